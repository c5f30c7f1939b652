import json
import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.errors import BadInput
from memflow.metrics.text import DEEPEST, exact_match, locomo_f1, rouge_l, union_rouge_l

OPTIONS = '{"a": "Not mentioned in the conversation", "b": "a red kite"}'


@pytest.mark.parametrize(
    ("prediction", "gold", "category", "score"),
    [
        ("May 7, 2023", "7 May 2023", 2, 1.0),
        ("The support group and a charity race", "support groups", 4, 2 / 3),
        ("pottery, camping, and swimming", "pottery, camping, painting, swimming", 1, 0.75),
        ("the", "the", 4, 0.0),
        ("", "anything", 4, 0.0),
        ("yes; for reasons", "yes; for reasons", 3, 0.5),
        ("a", OPTIONS, 5, 1.0),
        ("(a)", OPTIONS, 5, 1.0),
        ("b", OPTIONS, 5, 0.0),
        ("(b)", OPTIONS, 5, 0.0),
        ("No information available.", OPTIONS, 5, 1.0),
        ("It is NOT mentioned", OPTIONS, 5, 1.0),
        ("a red kite", OPTIONS, 5, 0.0),
    ],
)
def test_locomo_f1_matches_the_expected_score_of_each_category(
    prediction: str, gold: str, category: int, score: float
) -> None:
    assert locomo_f1(prediction, gold, category) == pytest.approx(score)
    assert locomo_f1(prediction, gold, str(category)) == locomo_f1(prediction, gold, category)


def published(name: str) -> list[dict]:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder:
        pytest.skip("set MEMFLOW_DATA to the data folder")
    return json.loads((Path(folder) / name).read_text(encoding="utf-8"))


def test_locomo_f1_equals_every_published_score() -> None:
    pairs = published("locomo/oracle_f1_sample.json")
    assert len(pairs) == 600
    found = [locomo_f1(pair["prediction"], pair["golden_answer"], pair["category"]) for pair in pairs]
    assert found == [pair["f1"] for pair in pairs]


def test_locomo_f1_removes_article_before_curly_apostrophe() -> None:
    assert locomo_f1("’s", "the’s", 4) == 1.0


@pytest.mark.parametrize("gold", ["no JSON", "[1]", '{"a": "only one"}'])
def test_locomo_f1_rejects_an_invalid_gold_of_category_5(gold: str) -> None:
    with pytest.raises(BadInput, match="category 5"):
        locomo_f1("a", gold, 5)


CONTRACT = (
    "合同自双方签字之日起生效，双方应当履行合同。",
    "双方签字后合同生效，当事人应当按照合同履行义务。",
)
WORDS = st.text(alphabet="abcdeg ABst.,-'0159éü中\n", max_size=80)


@pytest.mark.parametrize("stem", [False, True])
@examples(100)
@given(prediction=WORDS, gold=WORDS)
def test_english_rouge_l_equals_the_rouge_score_package(stem: bool, prediction: str, gold: str) -> None:
    from rouge_score import rouge_scorer

    oracle = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=stem)
    assert rouge_l(prediction, gold, stem=stem) == oracle.score(gold, prediction)["rougeL"].fmeasure


def test_chinese_rouge_l_equals_the_rouge_chinese_package() -> None:
    # rouge-chinese 1.0.3 on the same words, with its 1e-8: 0.6956521689981097 and 0.42105262659279785
    said = "被告人犯盗窃罪，判处有期徒刑三年，并处罚金人民币五千元。"
    gold = "被告人张某犯盗窃罪，判处有期徒刑二年，缓刑三年，并处罚金人民币三千元。"
    assert rouge_l(said, gold, "zh") == pytest.approx(16 / 23)
    assert rouge_l(*CONTRACT, "zh") == pytest.approx(8 / 19)


def test_rouge_l_equals_every_published_lexeval_score() -> None:
    pairs = published("lexeval/oracle_rougel_sample.json")
    assert len(pairs) == 150
    found = [rouge_l(pair["prediction"], pair["golden_answer"], "zh", "published_code") for pair in pairs]
    assert found == pytest.approx([pair["rougel"] for pair in pairs], abs=1e-6)


def test_published_rouge_l_counts_repeated_word_once() -> None:
    # rouge 1.0.1 gives these to the last digit.
    assert rouge_l(*CONTRACT, "zh", "published_code") == 0.4705882303114187
    assert rouge_l("管辖错误", "管辖权错误", "zh", "published_code") == pytest.approx(0.499999995, abs=1e-12)
    assert rouge_l("a b a c", "a c b a d", "en", "published_code") == 0.5714285665306124
    said, gold = "the cat. the dog sat. ", "the dog sat on the mat. a cat ran."
    assert rouge_l(said, gold, "en", "published_code") == 0.6153846106508877


def test_published_rouge_l_deletes_only_the_closing_title_mark() -> None:
    assert rouge_l("》刑法", "刑 法。", "zh", "published_code") == pytest.approx(1, abs=1e-8)
    assert rouge_l("《刑法", "刑法", "zh", "published_code") == pytest.approx(2 / 3, abs=1e-8)
    assert rouge_l("《刑法", "刑法", "zh") == 1.0


def test_exact_match_ignores_a_final_full_stop_only_in_the_answer() -> None:
    assert exact_match(" Ross. ", "ross") == 1.0
    assert exact_match("Ross", "ross.") == 0.0


def by_table(said: Sequence[str], wanted: Sequence[str]) -> set[str]:
    """Return the words on the backtracking path through the full table, by the rule of the package."""
    lengths = [[0] * (len(said) + 1) for _ in range(len(wanted) + 1)]
    for row, word in enumerate(wanted, 1):
        for column, other in enumerate(said, 1):
            lengths[row][column] = (
                lengths[row - 1][column - 1] + 1
                if word == other
                else max(lengths[row - 1][column], lengths[row][column - 1])
            )
    found, row, column = set(), len(wanted), len(said)
    while row and column:
        if wanted[row - 1] == said[column - 1]:
            found.add(wanted[row - 1])
            row, column = row - 1, column - 1
        elif lengths[row - 1][column] > lengths[row][column - 1]:
            row -= 1
        else:
            column -= 1
    return found


SENTENCE = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30)
SENTENCES = st.lists(SENTENCE, min_size=1, max_size=4)


@given(said=SENTENCES, wanted=SENTENCES)
def test_union_rouge_l_matches_dynamic_programming(said: list[list[str]], wanted: list[list[str]]) -> None:
    common = set().union(*(by_table(one, gold) for gold in wanted for one in said))
    precision = len(common) / len(set(chain.from_iterable(said)))
    recall = len(common) / len(set(chain.from_iterable(wanted)))
    expected = 2 * precision * recall / (precision + recall + 1e-8)
    assert union_rouge_l(said, wanted) == pytest.approx(expected, abs=1e-15)


def test_union_rouge_l_is_0_beyond_the_recursion_limit_of_the_rouge_package() -> None:
    words = [f"w{n}" for n in range(DEEPEST)]
    assert union_rouge_l([words], [words]) == pytest.approx(1, abs=1e-8)
    assert union_rouge_l([[*words, "z"]], [[*words, "z"]]) == 0.0
    # Nothing in common: the package walks along the whole answer, and only that.
    assert union_rouge_l([["x"]], [[*words, "z"]]) == 0.0
