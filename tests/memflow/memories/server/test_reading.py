"""The order of notes of a memory server that reports no sources: by the texts and the dates of its items."""

import pytest

from memflow.memories.entries import Item
from memflow.memories.server.protocol import SentMessage
from memflow.memories.server.reading import likely_positions

SAID = (
    "I like tea.",
    "Tea it is! I noted that you like tea.",
    "My sister lives in Rome, and I visit her in May.",
    "I like tea.",
    "Now I like coffee.",
)
MESSAGES = [
    SentMessage(id=f"m{at}", role="user", text=text, sent_at=f"{at // 2 + 1} May")
    for at, text in enumerate(SAID)
]


@pytest.mark.parametrize(
    ("text", "date", "position"),
    [
        ("user: I like tea.", None, 0),
        ("[3 May] user: Now  I like\ncoffee.", "3 May", 4),
        ("user: My sister lives in Rome,", None, 2),
        ("I like tea. Now I like coffee.", None, 4),
        ("The user prefers hot drinks.", "2 May", 2),
        ("The user prefers hot drinks.", None, 5),
    ],
)
def test_item_has_the_position_of_the_message_with_its_text_or_date(
    text: str, date: str | None, position: int
) -> None:
    item = Item("memory:1", "memory", text, (), 1, meta={"sent_at": date} if date else {})
    assert likely_positions([item], MESSAGES) == [position]
