"""The short messages and queries of `memflow memories check`, with words that occur nowhere else.

check_conversation.py has the long conversation.
"""

from memflow.memories.server.protocol import SentMessage

OLD_DATES = ("2015-03-02T09:30:00", "2015-07-21T18:05:00")
ODD_TEXTS = {
    "quotes": "Ferdinand's \"marzipan\" \\ 'backslash' <b>bold</b> {curly}",
    "line breaks": "pangolin first line\nsecond line\r\nthird line\u2028fourth",
    "emoji and scripts": "axolotl 😀 naïve 你好 Привет שלום",
    "NUL and controls": "okapi before\x00after \x1b[m end",
}
"""Texts that a transport may damage. The first word of each is unique."""
SECRETS = ("The vault code of Abelard is xylophone.", "The vault code of Heloise is zeppelin.")
CODE_QUERY = "vault code of Abelard and Heloise"


def message(number: int, text: str, role: str = "user", sent_at: str | None = None) -> SentMessage:
    """Return a message of the check."""
    return SentMessage.model_validate(
        {"id": f"check-{number}", "role": role, "text": text, "speaker": None, "sent_at": sent_at}
    )
