"""METEOR scores, compared with nltk's `meteor_score`."""

import os
import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.errors import BadSettings
from memflow.metrics.meteor import Variant, meteor

HYPOTHESIS = "It is a guide to action which ensures that the military always obeys the commands of the party"
REFERENCE = "It is a guide to action that ensures that the military will forever heed Party commands"
NO_WORDNET = SimpleNamespace(synsets=lambda _: [])


class FakeSynonyms:
    """Synonyms that are given as keyword arguments."""

    def __init__(self, **synonyms: str) -> None:
        self.synonyms = {word: frozenset(said.split()) for word, said in synonyms.items()}

    def of(self, word: str) -> frozenset[str]:
        return self.synonyms.get(word, frozenset())


def meteor_of_words(
    said: list[str],
    wanted: list[str],
    variant: Variant = "standard",
    synonyms: FakeSynonyms | None = None,
) -> float:
    return meteor(" ".join(said), " ".join(wanted), "en", variant, synonyms)


def test_meteor_matches_hand_computed_values() -> None:
    # Matches: the, cat (exact), sat (stem of "sat" and "sat"), in runs "the cat" and "sat": 3 matches, 2 runs.
    # P = 3/4, R = 3/3, F = PR / (.9 P + .1 R) = .75 / .775; penalty .5 (2/3)^3.
    score = meteor_of_words(["the", "cat", "then", "sat"], ["the", "cat", "sat"])
    assert score == pytest.approx((1 - 0.5 * (2 / 3) ** 3) * 0.75 / 0.775)
    assert [meteor_of_words(*pair) for pair in ((["dog"], ["cat"]), ([], ["cat"]), (["a"], []))] == [0, 0, 0]


VOCABULARY = "a the cat cats dog dogs running runs ran house houses big biggest large home quick fast"
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=25)


@examples(100)
@given(said=WORDS, wanted=WORDS)
def test_meteor_without_wordnet_equals_the_nltk_score(said: list[str], wanted: list[str]) -> None:
    from nltk.translate.meteor_score import meteor_score

    theirs = meteor_score([wanted], said, wordnet=NO_WORDNET)
    assert meteor_of_words(said, wanted, "published_code") == theirs
    assert meteor_of_words(said, wanted, "standard") == theirs  # the variants differ in synonyms alone


@examples(100)
@given(said=WORDS, wanted=WORDS)
def test_meteor_with_synonyms_equals_the_nltk_score(said: list[str], wanted: list[str]) -> None:
    synonyms = FakeSynonyms(
        cat="dog kitti", dog="cat", hous="home big", big="larg fast", fast="quick cat", the="a"
    )

    def synsets(word: str) -> list[Any]:
        lemmas = [SimpleNamespace(name=lambda name=name: name) for name in synonyms.of(word)]
        return [SimpleNamespace(lemmas=lambda: lemmas)]

    from nltk.translate.meteor_score import meteor_score

    theirs = meteor_score([wanted], said, wordnet=SimpleNamespace(synsets=synsets))
    assert meteor_of_words(said, wanted, "published_code", synonyms) == theirs


@pytest.mark.parametrize(
    ("word", "variant", "score"),
    [
        ("house", "published_code", 0),
        ("house", "standard", 0.5),
        ("hous", "published_code", 0.5),
        ("hous", "standard", 0),
    ],
)
def test_meteor_published_code_finds_synonyms_by_stem_and_standard_by_word(
    word: str, variant, score: float
) -> None:
    assert meteor_of_words(["house"], ["home"], variant, FakeSynonyms(**{word: "home"})) == score


def test_chinese_meteor_ignores_synonyms() -> None:
    # 判处 有期徒刑 三年 against 判处 有期徒刑 五年: 2 of 3 words in one run
    mean = (2 / 3) ** 2 / (2 / 3)
    expected = (1 - 0.5 * (1 / 2) ** 3) * mean
    assert meteor("判处有期徒刑三年", "判处 有期徒刑 五年", "zh") == pytest.approx(expected)
    assert meteor("三年", "五年", "zh", synonyms=FakeSynonyms(三年="五年")) == 0


def test_meteor_rejects_unknown_language_or_variant() -> None:
    with pytest.raises(BadSettings, match="language 'fr'"):
        meteor("un", "un", "fr")
    with pytest.raises(BadSettings, match="variant 'nltk'"):
        meteor("a", "a", variant="nltk")


def test_meteor_with_wordnet_equals_the_nltk_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.environ.get("MEMFLOW_WORDNET")
    if not folder:
        pytest.skip("set MEMFLOW_WORDNET to a folder of WordNet (Debian's wordnet-base: /usr/share/wordnet)")
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.translate.meteor_score import meteor_score

    from resources.metric_backends.wordnet import WordNet

    ours = WordNet(folder)
    theirs = tmp_path / "corpora" / "wordnet"
    shutil.copytree(ours.folder, theirs)
    # nltk asks for two files more, of which METEOR uses nothing.
    (theirs / "lexnames").write_text("".join(f"{n:02}\tname{n}\t1\n" for n in range(45)))
    if not (theirs / "index.sense").is_file():
        (theirs / "index.sense").touch()
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of languages it has not
        reader = WordNetCorpusReader(str(theirs), None)

    texts = [
        HYPOTHESIS,
        REFERENCE,
        "It is to insure the troops forever hearing the activity guidebook that party direct",
        "The physician purchased a large automobile and quickly drove his kids to their dwelling",
        "The doctor bought a big car and rapidly drove the children home , better than 2 houses",
        "Two women were happier about the oxen ; abaci and geese were lying in the grass",
    ]
    differs = 0
    for said in texts:
        for gold in texts:
            expected = meteor_score([gold.split()], said.split(), wordnet=reader)
            assert meteor_of_words(said.split(), gold.split(), "published_code", ours) == expected
            differs += expected != meteor_score([gold.split()], said.split(), wordnet=NO_WORDNET)
    assert differs > 3
    for word in ("house", "hous", "children", "better", "OXEN", "2", "abaci", "lying", "zzz", "larger"):
        lemmas = [lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas()]
        assert ours.of(word) == {name for name in lemmas if "_" not in name}
