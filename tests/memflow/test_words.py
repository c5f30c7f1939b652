"""Tokenization for search, depending on the script of the text."""

import pytest

from memflow.words import search_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cats sat, at 10:30; the CATS!", ["cats", "sat", "10", "30", "cats"]),
        ("Caroline's x 7", ["caroline", "7"]),
        ("", []),
        ("the and of", []),
        ("北京大学", ["北京", "大学", "北京大学"]),
        ("我的iPhone15在北京大学", ["iphone15", "北京", "大学", "北京大学"]),
        ("他喜欢苹果 and tea", ["喜欢", "苹果", "tea"]),
        ("ＡＢＣ１２ café", ["abc12", "café"]),
        ("Привет мир", ["привет", "мир"]),
    ],
)
def test_search_words_splits_a_text_by_the_rules_of_its_script(text: str, words: list[str]) -> None:
    assert search_words(text) == words


def test_search_words_returns_a_single_chinese_character_as_a_word() -> None:
    assert search_words("茶") == ["茶"]
