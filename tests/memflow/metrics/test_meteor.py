"""METEOR scores, compared with nltk's `meteor_score`."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.errors import BadSettings
from memflow.metrics.meteor import Variant, meteor

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
