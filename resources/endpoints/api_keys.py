"""The API key of an endpoint: its environment variable, its header, and its removal from texts."""

import os
import re
from dataclasses import dataclass, field

from memflow.errors import BadSettings

NO_KEY = "EMPTY"
"""The key that is sent where none is set."""

_MASKED = re.compile(r"([\w-]{3,})(?:[*\u2022]{2,}|(?:\\u2022){2,}|\.{3}|\u2026|\\u2026)([\w-]*)")
"""A key as servers print it, also in JSON: its first characters, a mask, its last characters."""
_MASKED_LENGTH = 6
"""Minimum number of characters that a masked key shows."""
_SECRET_LENGTH, _START = 8, 2
"""Minimum length of a secret, as a shorter one is a placeholder; characters of it without which no text is searched."""


@dataclass(frozen=True)
class ApiKey:
    """An API key and the name of the environment variable that contains it; both are empty without a key."""

    variable: str = ""
    value: str = field(default="", repr=False)

    @classmethod
    def of(cls, variable: str) -> "ApiKey":
        """Return the key in an environment variable.

        Raises BadSettings if the key contains characters that no HTTP header may contain.
        """
        value = os.environ.get(variable, "").strip()
        if not (value.isascii() and value.isprintable()):
            raise BadSettings(
                f"the key in the variable {variable} contains a character that is not printable ASCII. "
                "Set the variable to the key alone."
            )
        return cls(variable, value) if value else cls()

    def headers(self, auth: str) -> dict[str, str]:
        """Return the header that sends the key, or else NO_KEY. `auth` is its name, and its scheme after a colon."""
        header, _, scheme = auth.partition(":")
        return {header.strip(): f"{scheme.strip()} {self.value or NO_KEY}".strip()}

    def redact(self, text: str) -> str:
        """Return a text with <VARIABLE> in place of the key: whole, also as JSON may escape it, or masked."""
        secret, name = self.value, f"<{self.variable}>"
        if len(secret) < _SECRET_LENGTH or secret[:_START] not in text:
            return text

        def replace(match: re.Match[str]) -> str:
            shown = len(match[1]) + len(match[2])
            known = secret.startswith(match[1]) and secret.endswith(match[2])
            return name if known and shown >= _MASKED_LENGTH else match[0]

        whole = "".join(c if c.isalnum() else rf"\\?(?:{re.escape(c)}|(?i:u{ord(c):04x}))" for c in secret)
        return _MASKED.sub(replace, re.sub(whole, lambda match: name, text))

    def redact_content(self, content: bytes) -> bytes:
        """Return the content of a response without the key."""
        if self.value[:_START].encode() not in content:
            return content
        return self.redact(content.decode(errors="surrogateescape")).encode(errors="surrogateescape")
