"""Errors of endpoints: failed attempts, and the messages, codes and exceptions of error responses.

The codes and wordings come from the providers' references (wire_words.toml). endpoint.py decides when to give up.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memflow.chat.decoding import decode_json, printable
from memflow.errors import ChatError, NoAnswer, PromptTooLong, QuotaExhausted, RequestRefused
from memflow.resources.endpoints.addresses import display_address
from memflow.resources.endpoints.rate_limits import retry_after
from memflow.resources.endpoints.tables import WIRE_WORDS

CONNECT_TIMEOUT = 10.0
"""Maximum of seconds until a connection opens."""
REPEATABLE = frozenset({408, 409, 425, 429})
"""Status codes below 500 after which the same request may succeed."""
_FLAGGED = re.compile("moderation|flagged", re.IGNORECASE)
"""A prompt that a provider's moderation blocks; OpenRouter reports it with status 403, without a code."""
_TEMPLATE_ERROR = re.compile("roles must alternate|system role|chat template|jinja", re.IGNORECASE)
"""A chat template that rejects the roles of the messages; llama.cpp reports it with status 500."""
_OVERFLOW = re.compile("|".join(WIRE_WORDS["overflow"]), re.IGNORECASE)
_LONGEST_MESSAGE, _LONGEST_DETAILS = 500, 2000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
"""Characters that a terminal would interpret."""


class RetryableError(Exception):
    """The exception for a failed attempt whose request may succeed when repeated.

    `pause`: the seconds that the server asks to wait before the next request; `unreachable`: there was no response;
    `connected`: a connection was opened; `overloaded`: the server has too many requests, or was too slow; `broken`: the
    response is no completion; `hint`: what to fix, where known.
    """

    def __init__(
        self,
        message: str,
        *,
        pause: float = 0.0,
        unreachable: bool = False,
        connected: bool = True,
        overloaded: bool = False,
        broken: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.pause, self.unreachable, self.connected = pause, unreachable, connected
        self.overloaded, self.broken, self.hint = overloaded, broken, hint


@dataclass(frozen=True)
class ErrorResponse:
    """An error of a server. `status` is the HTTP status, or the error code in a response with status 200."""

    status: int
    message: str
    details: str
    """The beginning of the response's text."""
    codes: frozenset[str]
    """The error's machine-readable codes and types, in lower case."""

    def failure(
        self, headers: Mapping[str, str], address: str, model: str, variable: str
    ) -> RetryableError | ChatError:
        """Return the exception for an error at `address`: a RetryableError if the same request may succeed.

        The header `x-should-retry` has the last word on that. `variable` names the key that was sent; "" without
        a key.
        """
        status, codes = self.status, self.codes
        said = f"({status}): {self.message}"
        request = f"the request to {model}" if model else "the request"
        refusal = f"{address} rejected {request} {said}"
        final = status < 500 and status not in REPEATABLE
        if status == 402 or codes & {*WIRE_WORDS["quota"]}:
            return QuotaExhausted(
                f"The quota at {address} is used up {said}. Add credit, wait until the quota is renewed, or set "
                "`key_variable` of the model in memflow.toml to another key, then rerun."
            )
        if 300 <= status < 400:
            target = display_address(headers.get("location", "")) or "an address that it does not name"
            refusal = (
                f"{address} redirects to {target} ({status}). Redirects are not followed, since they could "
                "send the key to another server. If the target is right, set it as `url` in memflow.toml."
            )
        elif final and (
            codes & {*WIRE_WORDS["filters"]} or (status == 403 and _FLAGGED.search(self.message))
        ):
            return NoAnswer(f"{address} blocked {request} {said}", "filtered")
        elif final and (status == 413 or any(map(_OVERFLOW.search, (self.details, *codes)))):
            too_long = f"{address} rejected {request} because its prompt is too long {said}"
            return PromptTooLong(too_long, status, self.details)
        elif status in (401, 403):
            fix = f"Fix the key in the variable {variable}." if variable else "Set the variable of its key."
            refusal = f"{address} {'rejected the' if variable else 'needs a'} key {said}. {fix}"
        elif self._may_succeed(headers.get("x-should-retry", "").lower()):
            return RetryableError(
                f"{status}: {self.message}",
                pause=retry_after(headers),
                overloaded=status == 429,
                broken=status == 200,
            )
        return RequestRefused(refusal, status, self.details)

    def _may_succeed(self, decision: str) -> bool:
        """Return whether the same request may succeed. `decision` is that of the server: true, false or empty."""
        if decision in ("true", "false"):
            return decision == "true"
        failed = self.status >= 500 and not _TEMPLATE_ERROR.search(self.details)
        return failed or self.status in REPEATABLE or self.status < 300


def error_response(status: int, content: bytes) -> ErrorResponse:
    """Return the error in a response of status 300 or above."""
    text = content[: 16 * _LONGEST_DETAILS].decode(errors="replace")
    try:
        error = decode_json(text)
    except ValueError:
        error = text
    return _build(status, error, text)


def error_in_body(error: Any) -> ErrorResponse:
    """Return the error that the body of a response of status 200 contains; its status is 200 without an HTTP code."""
    code = str(error.get("code") if isinstance(error, dict) else None)
    return _build(int(code) if re.fullmatch("[45][0-9][0-9]", code) else 200, error, str(error))


def _build(status: int, error: Any, text: str) -> ErrorResponse:
    codes = frozenset(str(code).lower()[:100] for code in _codes(error))
    message = _CONTROL.sub(" ", printable(_message(error)[: 16 * _LONGEST_DETAILS]))
    return ErrorResponse(status, message[:_LONGEST_MESSAGE], printable(text[:_LONGEST_DETAILS]), codes)


def _message(error: Any) -> str:
    """Return the innermost `error`, `message` or `detail` of a decoded error."""
    while isinstance(error, dict):
        inner = error.get("error") or error.get("message") or error.get("detail")
        if not inner:
            break
        error = inner
    return str(error).strip() or "(no message)"


def _codes(error: Any) -> Iterator[object]:
    """Yield the codes, types and states of a decoded error and of the errors inside it."""
    while isinstance(error, dict):
        yield from (error[key] for key in ("code", "type", "status") if isinstance(error.get(key), str | int))
        error = error.get("error") or error.get("innererror")
