import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.errors import BadInput, BadSettings
from memflow.metrics.text import exact_match, locomo_f1, rouge_l

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
def test_locomo_f1_of_known_pairs(prediction: str, gold: str, category: int, score: float) -> None:
    assert locomo_f1(prediction, gold, category) == pytest.approx(score)
    assert locomo_f1(prediction, gold, str(category)) == locomo_f1(prediction, gold, category)


def test_locomo_f1_equals_every_published_score() -> None:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder:
        pytest.skip("set MEMFLOW_DATA to the data folder")
    pairs = json.loads((Path(folder) / "locomo/oracle_f1_sample.json").read_text(encoding="utf-8"))
    assert len(pairs) == 600
    wrong = [
        pair
        for pair in pairs
        if locomo_f1(pair["prediction"], pair["golden_answer"], pair["category"]) != pair["f1"]
    ]
    assert wrong == []


def test_curly_apostrophe_separates_article() -> None:
    assert locomo_f1("’s", "the’s", 4) == 1.0


@pytest.mark.parametrize("gold", ["no JSON", "[1]", '{"a": "only one"}'])
def test_invalid_category_5_gold_is_rejected(gold: str) -> None:
    with pytest.raises(BadInput, match="category 5"):
        locomo_f1("a", gold, 5)


def test_unknown_category_is_rejected() -> None:
    with pytest.raises(BadInput, match="no category 6"):
        locomo_f1("a", "a", 6)


WORDS = st.text(alphabet="abcdeg ABst.,-'0159éü中\n", max_size=80)


@pytest.mark.parametrize("stem", [False, True])
@examples(150)
@given(prediction=WORDS, gold=WORDS)
def test_english_rouge_l_equals_rouge_score(stem: bool, prediction: str, gold: str) -> None:
    from rouge_score import rouge_scorer

    oracle = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=stem)
    assert rouge_l(prediction, gold, stem=stem) == oracle.score(gold, prediction)["rougeL"].fmeasure


def test_chinese_rouge_l_ignores_punctuation() -> None:
    assert rouge_l("管辖错误", "管辖权错误", "zh") == 0.5
    assert rouge_l("判处有期徒刑三年。", "判处 有期徒刑，三年", "zh") == 1.0
    assert rouge_l("三年", "", "zh") == 0.0


def test_chinese_rouge_l_equals_rouge_chinese() -> None:
    # rouge-chinese 1.0.3 on the same words, with its 1e-8: 0.6956521689981097 and 0.42105262659279785
    said = "被告人犯盗窃罪，判处有期徒刑三年，并处罚金人民币五千元。"
    gold = "被告人张某犯盗窃罪，判处有期徒刑二年，缓刑三年，并处罚金人民币三千元。"
    assert rouge_l(said, gold, "zh") == pytest.approx(16 / 23)
    said, gold = (
        "合同自双方签字之日起生效，双方应当履行合同。",
        "双方签字后合同生效，当事人应当按照合同履行义务。",
    )
    assert rouge_l(said, gold, "zh") == pytest.approx(8 / 19)


def test_rouge_l_equals_every_published_lexeval_score() -> None:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder:
        pytest.skip("set MEMFLOW_DATA to the data folder")
    path = Path(folder) / "lexeval/oracle_rougel_sample.json"
    pairs = json.loads(path.read_text(encoding="utf-8"))
    assert len(pairs) == 150
    wrong = [
        pair["idx"]
        for pair in pairs
        if rouge_l(pair["prediction"], pair["golden_answer"], "zh", variant="published_code")
        != pytest.approx(pair["rougel"], abs=1e-6)
    ]
    assert wrong == []


def test_published_rouge_l_counts_repeated_word_once() -> None:
    # rouge 1.0.1 gives these to the last digit.
    said, gold = (
        "合同自双方签字之日起生效，双方应当履行合同。",
        "双方签字后合同生效，当事人应当按照合同履行义务。",
    )
    assert rouge_l(said, gold, "zh", "published_code") == 0.4705882303114187
    assert rouge_l("管辖错误", "管辖权错误", "zh", "published_code") == pytest.approx(0.499999995, abs=1e-12)
    assert rouge_l("a b a c", "a c b a d", "en", "published_code") == 0.5714285665306124
    said, gold = "the cat. the dog sat. ", "the dog sat on the mat. a cat ran."
    assert rouge_l(said, gold, "en", "published_code") == 0.6153846106508877


def test_lexeval_deletes_only_closing_title_mark() -> None:
    assert rouge_l("》刑法", "刑 法。", "zh", "published_code") == pytest.approx(1, abs=1e-8)
    assert rouge_l("《刑法", "刑法", "zh", "published_code") == pytest.approx(2 / 3, abs=1e-8)
    assert rouge_l("《刑法", "刑法", "zh") == 1.0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_published_rouge_l_of_empty_text_is_0(language: str) -> None:
    for said, gold in (("", "a"), ("a", ""), ("。。", "a") if language == "zh" else ("...", "a")):
        assert rouge_l(said, gold, language, "published_code") == 0.0  # type: ignore[arg-type]


def test_unknown_variant_or_language_is_rejected() -> None:
    with pytest.raises(BadSettings, match="'published_code'"):
        rouge_l("一", "一", "zh", variant="published")  # type: ignore[arg-type]
    with pytest.raises(BadSettings, match="language"):
        rouge_l("un", "un", "fr")  # type: ignore[arg-type]


def test_exact_match_allows_final_full_stop() -> None:
    assert exact_match(" Ross. ", "ross") == 1.0
    assert exact_match("Ross", "ross.") == 0.0


def test_stemmer_does_not_use_network(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('a network call')\n"
        "socket.socket.connect = refuse\n"
        "from memflow.metrics.text import locomo_f1\n"
        "print(locomo_f1('birthdays', 'birthday', 4))\n"
    )
    environment = {**os.environ, "NLTK_DATA": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.strip() == "1.0", done.stderr
    assert list(tmp_path.iterdir()) == []
