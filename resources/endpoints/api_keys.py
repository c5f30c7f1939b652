"""The API keys of an endpoint: rotation of several keys, and their removal from texts.

Keys are read from the environment when a client opens. No other module reads or prints a key.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Sequence
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
    """An API key and the name of the environment variable that contains the key."""

    variable: str
    value: str = field(repr=False)


class KeyRing:
    """The keys of an endpoint, used in turn. A key that the server rejects is no longer used, except for the last key.

    `auth` is the header of a key, and its scheme after a colon. `paused_until` is when each key may be used again, on
    `clock`; the rings of one address share it. Raises BadSettings if a key contains characters that no HTTP header may
    contain.
    """

    def __init__(
        self,
        variables: Sequence[str],
        auth: str = "Authorization: Bearer",
        *,
        paused_until: dict[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        header, _, scheme = auth.partition(":")
        self._header, self._scheme = header.strip(), scheme.strip()
        self._paused_until = {} if paused_until is None else paused_until
        self._clock = clock
        found = [ApiKey(name, os.environ.get(name, "").strip()) for name in variables]
        for key in found:
            if not (key.value.isascii() and key.value.isprintable()):
                raise BadSettings(
                    f"the key in the variable {key.variable} contains a character that is not printable ASCII. "
                    "Set the variable to the key alone."
                )
        self._secrets = {key.value: key.variable for key in found if len(key.value) >= _SECRET_LENGTH}
        self._keys = [key for key in found if key.value] or [ApiKey("", NO_KEY)]
        self._next = 0

    def choose(self) -> ApiKey:
        """Return the next key in turn that is not paused; if all are paused, the key whose pause ends first."""
        self._next += 1
        turn = [self._keys[(self._next + offset) % len(self._keys)] for offset in range(len(self._keys))]
        return min(turn, key=self.pause_of) if self._paused_until else turn[0]

    def pause_of(self, key: ApiKey) -> float:
        """Return the seconds until a key may be used again."""
        until = self._paused_until.get(key.variable)
        return 0.0 if until is None else max(0.0, until - self._clock())

    def shortest_pause(self) -> float:
        """Return the seconds until any key may be used."""
        return min(map(self.pause_of, self._keys)) if self._paused_until else 0.0

    def pause(self, key: ApiKey, seconds: float) -> None:
        """Do not use a key for some seconds."""
        self._paused_until[key.variable] = self._clock() + max(seconds, self.pause_of(key))

    def headers(self, key: ApiKey) -> dict[str, str]:
        """Return the header that sends a key."""
        return {self._header: f"{self._scheme} {key.value}".strip()}

    def set_aside(self, key: ApiKey, reason: str) -> bool:
        """Stop using a key. Return False, and keep the key, if it is the last key."""
        if not any(other != key for other in self._keys):
            return False
        if key in self._keys:
            self._keys.remove(key)
            logging.getLogger("memflow").warning(
                "The key in the variable %s is no longer used: %s", key.variable, reason
            )
        return True

    def redact(self, text: str) -> str:
        """Return a text with <VARIABLE> in place of each key, whole or masked."""
        for secret, name in self._secrets.items():
            if secret[:3] in text:
                text = _MASKED.sub(
                    lambda match, secret=secret, name=name: (  # type: ignore[misc]
                        f"<{name}>" if _is_masked(match, secret) else match[0]
                    ),
                    text.replace(secret, f"<{name}>"),
                )
        return text


def _is_masked(match: re.Match[str], secret: str) -> bool:
    shown = len(match[1]) + len(match[2])
    return shown >= _MASKED_LENGTH and secret.startswith(match[1]) and secret.endswith(match[2])
