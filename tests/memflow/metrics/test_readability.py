"""Readability scores, compared with hand-computed values and with textstat."""

import importlib

import pytest

from memflow.metrics.readability import coleman_liau, dale_chall, flesch_kincaid

# 9 words in 2 sentences, 33 letters, 12 syllables; "astronomers" is not on Dale and Chall's list.
TEXT = "The cat sat on the mat. Astronomers saw it."
SYLLABLES = {"the": 1, "cat": 1, "sat": 1, "on": 1, "mat": 1, "saw": 1, "it": 1, "astronomers": 4}


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "One. Two. Three.",  # sentences of two words or fewer do not count
        "Don't 2023 'tis x-ray e.g. naïve it. Well-known dogs walked; 中文 too!",
        "She carefully watered the gardens. Children were laughing, and 1,024 birds sang?",
        " ",
        "...",
    ],
)
def test_readability_scores_equal_the_scores_of_textstat(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import textstat

    # textstat's dictionary, made of ours: of a word its first pronunciation, whose vowels end with their stress.
    pronounced = {word: [["AH0"] * count] for word, count in SYLLABLES.items()}
    counting = importlib.import_module("textstat.backend.counts._count_syllables")
    monkeypatch.setattr(counting, "get_cmudict", lambda lang: pronounced)
    counting.count_syllables.cache_clear()
    assert coleman_liau(text).value == textstat.coleman_liau_index(text)
    assert flesch_kincaid(text, SYLLABLES).value == textstat.flesch_kincaid_grade(text)
    assert dale_chall(text).value == textstat.dale_chall_readability_score(text)


def test_missing_dictionary_removes_only_the_flesch_kincaid_score() -> None:
    score = flesch_kincaid(TEXT, None)
    assert score.value is None and score.reason is not None and "MEMFLOW_CMUDICT" in score.reason
    assert coleman_liau(TEXT).value is not None and dale_chall(TEXT).value is not None
