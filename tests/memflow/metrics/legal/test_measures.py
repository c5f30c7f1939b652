import pytest
from chinese_numerals import format_numeral
from legal_judgments import Convicted, judgment

from memflow.metrics.legal.measures import comparable_passages, judgment_scores
from memflow.metrics.result import MetricResult

NAMES = ["charge_recall", "charge_precision", "statute_recall", "statute_precision", "time", "fine"]


def _case(
    *charges: str, months: int | None = 6, fine: int | None = None, statutes: tuple[str, ...] = ("264",)
) -> str:
    """One person, convicted of charges together; no term where `months` is None."""
    terms = [] if months is None else [f"判处拘役{format_numeral(months)}个月"]
    fines = [] if fine is None else [f"罚金{format_numeral(fine)}元"]
    people = [Convicted(charges=[(charge, "", None) for charge in charges])]
    decision = (
        "被告人周小舟" + "，".join([f"犯{'、'.join(charges)}", *terms, *fines]) if charges else "驳回起诉。"
    )
    return judgment(*people, statutes=statutes, decision=decision)


def test_charge_and_statute_scores_match_hand_computed_values() -> None:
    found = judgment_scores(
        _case("盗窃罪", "抢劫罪", "赌博罪", statutes=("264", "263", "303", "67")),
        _case("盗窃罪", "诈骗罪", statutes=("264", "266")),
    )
    assert [found[name].value for name in NAMES[:4]] == [1 / 2, 1 / 3, 1 / 2, 1 / 4]


@pytest.mark.parametrize(
    ("name", "said", "wanted", "standard", "published"),
    [
        ("months", 6, 9, 2 / 3, 2 / 3),
        ("months", 0, 0, 1, 1),
        ("months", 0, 9, 0, 0),
        ("months", None, 9, 0, None),  # the published reading finds a term among the defendant's earlier ones
        ("months", 9, None, 0, None),
        ("fine", 2_000, 5_000, 0.4, 0.4),
        ("fine", 20_000, 50_000, 0.4, 0.4),
        ("fine", 10_000, 5_000, 0.5, 0.5),
        ("fine", 20_000, 5_000, 0.25, 0.0),  # the rule for death sentences, met by a fine
    ],
)
def test_prison_and_fine_scores_match_hand_computed_values(name, said, wanted, standard, published) -> None:
    answer, gold = _case("盗窃罪", **{name: said}), _case("盗窃罪", **{name: wanted})
    metric = "time" if name == "months" else "fine"
    assert judgment_scores(answer, gold)[metric].value == pytest.approx(standard)
    if published is not None:
        assert judgment_scores(answer, gold, "published_code")[metric].value == pytest.approx(published)


def test_prison_term_score_is_0_if_only_one_sentence_is_the_death_penalty() -> None:
    death, life = (judgment(Convicted(charges=[("故意杀人罪", term, None)])) for term in ("死刑", "无期徒刑"))
    assert judgment_scores(death, life)["time"] == MetricResult(0.0)
    assert judgment_scores(death, death)["time"] == MetricResult(1.0)


def test_missing_judgment_score_has_a_reason() -> None:
    nothing, gold = "无法作出判决", _case("盗窃罪", fine=None)
    found = judgment_scores(nothing, gold)
    assert found == {
        "charge_recall": MetricResult(0.0),
        "charge_precision": MetricResult(None, "the answer names no charge"),
        "statute_recall": MetricResult(0.0),
        "statute_precision": MetricResult(None, "the answer names no statute"),
        "time": MetricResult(0.0),
        "fine": MetricResult(None, "neither the answer nor the gold sets a fine"),
    }
    assert judgment_scores(gold, nothing)["charge_recall"] == MetricResult(None, "the gold names no charge")
    published = judgment_scores(nothing, gold, "published_code")
    assert [published[name].value for name in NAMES[:4]] == [0, 0, 0, 0]


def test_comparable_passages_returns_reasoning_and_judgment_of_both_texts() -> None:
    answer, gold = judgment(facts="取走手机"), judgment(facts="取走电脑")
    found = comparable_passages(answer, gold)
    assert list(found) == ["reasoning", "judgment"]
    assert "手机" in found["reasoning"][0]
    assert "电脑" in found["reasoning"][1]
    assert found["judgment"][0] == found["judgment"][1]


def test_missing_passage_has_a_reason_and_published_code_drops_both_passages() -> None:
    answer, gold = "本院认为，有罪。", judgment()
    lacking = MetricResult(None, "no judgment is found in the answer")
    assert comparable_passages(answer, gold)["judgment"] == lacking
    assert comparable_passages(answer, gold)["reasoning"][0] == "本院认为，有罪。"
    assert list(comparable_passages(answer, gold, "published_code").values()) == [lacking, lacking]
