"""Redaction of the machine that wrote a report: addresses, paths and keys in reasons and names.

Texts of dialogues are data and are not redacted; `--without-texts` leaves them out.
"""

import os
import re
from collections.abc import Collection

ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)]+"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\w.])"
    r"|\blocalhost(?::\d+)?"
)
PATH = re.compile(r"(?<![\w.<])(?:~?(?:/[\w.@+~-]+){2,}/?|[A-Za-z]:\\[^\s'\"]+)")
SHORTEST_KEY = 8
"""Shorter values of key variables are no keys, and may be words of a text."""
QUOTE = ", such as: "
"""What precedes a quoted error message in a statement of health (memflow/scoring/health/states.py)."""
LEFT_OUT = "(left out)"
"""The text in place of a reason in a report without texts, since a reason may quote an answer."""


class Redaction:
    """A replacement of addresses, local paths and the given keys in texts."""

    def __init__(self, keys: Collection[str] = (), *, texts: bool = True) -> None:
        self._keys = sorted({key for key in keys if len(key) >= SHORTEST_KEY}, key=len, reverse=True)
        self._texts = texts

    @classmethod
    def of_environment(cls, variables: Collection[str], *, texts: bool = True) -> "Redaction":
        """Return a redaction of the keys in these environment variables."""
        return cls([os.environ[name] for name in variables if name in os.environ], texts=texts)

    def text(self, text: str | None) -> str | None:
        """Return a text of memflow's own, such as a name, without keys, addresses and paths; None for None."""
        if not text:
            return text
        for key in self._keys:
            text = text.replace(key, "<key>")
        return PATH.sub("<path>", ADDRESS.sub("<address>", text))

    def statement(self, statement: str | None) -> str | None:
        """Return a statement, redacted and, in a report without texts, without what it quotes; None for None."""
        return self.text(statement if self._texts or statement is None else statement.partition(QUOTE)[0])

    def reason(self, reason: str | None) -> str | None:
        """Return the reason of a row, redacted; LEFT_OUT in a report without texts; None without a reason."""
        return self.text(reason) if self._texts or reason is None else LEFT_OUT
