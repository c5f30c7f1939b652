"""The API key of an endpoint: its environment variable, its header, and its removal from texts."""

import os
import re
from dataclasses import dataclass, field

from memflow.errors import BadSettings

NO_KEY = "EMPTY"
"""The key that is sent where none is set."""

_MASKED = re.compile(r"([\w-]{3,})(?:[*\u2022]{2,}|\.{3}|\u2026)([\w-]*)")
"""A key as servers print it: its first characters, a mask, its last characters."""
_MASKED_LENGTH = 6
"""Minimum number of characters that a masked key shows."""
_SECRET_LENGTH = 8
"""Minimum length of a secret that is removed from texts; a shorter one is a placeholder."""


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
        """Return the header that sends the key. `auth` is the header's name, and its scheme after a colon."""
        header, _, scheme = auth.partition(":")
        return {header.strip(): f"{scheme.strip()} {self.value or NO_KEY}".strip()}

    def redact(self, text: str) -> str:
        """Return a text with <VARIABLE> in place of the key, whole or masked."""
        secret = self.value
        if len(secret) < _SECRET_LENGTH or secret[:3] not in text:
            return text
        name = f"<{self.variable}>"
        return _MASKED.sub(
            lambda match: name if self._is_masked(match) else match[0], text.replace(secret, name)
        )

    def _is_masked(self, match: re.Match[str]) -> bool:
        shown = len(match[1]) + len(match[2])
        return shown >= _MASKED_LENGTH and self.value.startswith(match[1]) and self.value.endswith(match[2])
