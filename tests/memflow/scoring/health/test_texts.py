"""What stored texts lack of their messages."""

import pytest

from memflow.scoring.health.texts import losses, properties, text_variants

MESSAGE = "I moved to Lindau on 14 May, because the flat in Ulm was cold."


@pytest.mark.parametrize(
    ("stored", "lost"),
    [
        ([f"user: {MESSAGE}"], set()),
        ([f"[8 May 2023] Mara: {MESSAGE}"], set()),
        (["user: I moved to Lindau on 14 May"], {"end"}),
        (["user: because the flat in Ulm was cold."], {"start"}),
        (["user: I moved to Lindau on 14 May, because", "user: the flat in Ulm was cold."], set()),
        (["user: " + MESSAGE.replace("14 ", "")], {"digits"}),
        (["user: " + MESSAGE.lower()], {"case"}),
        (["user: " + MESSAGE.replace(",", "").replace(".", "")], {"marks"}),
        (["The user lives at the lake."], None),
    ],
)
def test_losses(stored: list[str], lost: set[str] | None) -> None:
    assert losses(MESSAGE, stored) == lost


def test_losses_of_another_script() -> None:
    assert losses("My sister 安娜 lives here", ["user: My sister lives here"]) == {"letters"}


def test_properties_count_chinese_characters_as_words() -> None:
    assert properties("我住在林道 since 2019").words == 7
    assert properties("I live here").words == 3
    assert properties("我住在林道").other_script and not properties("2019!").other_script


def test_bodies_remove_date_and_speaker() -> None:
    assert text_variants("[8 May 2023] Mara: Hello") == ["[8 May 2023] Mara: Hello", "Mara: Hello", "Hello"]
