"""Error responses of endpoints: their messages, codes, consequences and exceptions.

The codes and wordings come from the providers' references; a model's profile overrides the codes of overflow and quota.
endpoint.py decides when to give up.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memflow.chat.decoding import decode_json, printable
from memflow.errors import ChatError, NoAnswer, PromptTooLong, QuotaExhausted, RequestRefused
from resources.endpoints.addresses import display_address
from resources.endpoints.failures import RetryableError
from resources.endpoints.profiles import Profile
from resources.endpoints.rate_limits import retry_after

Consequence = Literal["retry", "quota", "too_long", "filtered", "key", "redirect", "refused"]
"""What an error means for its request.

`retry`: the same request may succeed; `quota`: no request succeeds with this key; `too_long`: the prompt does not fit;
`filtered`: the provider blocks the prompt; `key`: the key is missing or wrong; `redirect`: the address has moved;
`refused`: the request is invalid.
"""

REPEATABLE = frozenset({408, 409, 425, 429})
"""Status codes below 500 after which the same request may succeed."""
_FILTERS = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "cyber_policy",
        "data_inspection_failed",
        "invalid_prompt",
        "responsibleaipolicyviolation",
    }
)
"""Codes of a blocked prompt (inspect_ai, `_openai.py`; Azure; Alibaba Cloud)."""
_FLAGGED = re.compile("moderation|flagged", re.IGNORECASE)
"""A prompt that a provider's moderation blocks; OpenRouter reports it with status 403, without a code."""
_TEMPLATE_ERROR = re.compile("roles must alternate|system role|chat template|jinja", re.IGNORECASE)
"""A chat template that rejects the roles of the messages; llama.cpp reports it with status 500."""
_LONGEST_MESSAGE, _LONGEST_DETAILS = 500, 2000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
"""Characters that a terminal would interpret."""


@dataclass(frozen=True)
class ErrorResponse:
    """An error of a server. `status` is the HTTP status, or the error code in a response with status 200."""

    status: int
    message: str
    details: str
    """The beginning of the response's text."""
    codes: frozenset[str]
    """The error's machine-readable codes and types, in lower case."""

    def consequence(self, profile: Profile, may_retry: bool | None = None) -> Consequence:
        """Return the consequence of the error, such as a retry. `may_retry` is the decision of the server, if any."""
        if self.status == 402 or self.codes & {code.lower() for code in profile.quota}:
            return "quota"
        if 300 <= self.status < 400:
            return "redirect"
        if self.status < 500 and self.status not in REPEATABLE:
            if self.codes & _FILTERS or (self.status == 403 and _FLAGGED.search(self.message)):
                return "filtered"
            if self.status == 413 or self._matches(profile.overflow):
                return "too_long"
            if self.status in (401, 403):
                return "key"
        failed = self.status >= 500 and not _TEMPLATE_ERROR.search(self.details)
        retried = failed or self.status in REPEATABLE or self.status < 300
        return "retry" if (retried if may_retry is None else may_retry) else "refused"

    def exception(
        self, consequence: Consequence, headers: Mapping[str, str], address: str, model: str, variable: str
    ) -> RetryableError | ChatError:
        """Return the exception for an error at `address`. `variable` names the key that was sent; "" if none is set."""
        said = f"({self.status}): {self.message}"
        to_model = f" to {model}" if model else ""
        match consequence:
            case "retry":
                return RetryableError(
                    f"{self.status}: {self.message}",
                    pause=retry_after(headers),
                    overloaded=self.status == 429,
                    broken=self.status == 200,
                )
            case "quota":
                return QuotaExhausted(
                    f"The quota at {address} is used up {said}. Add credit, wait until the quota is renewed, or set "
                    "`key_variable` of the model in memflow.toml to another key, then rerun."
                )
            case "too_long":
                return PromptTooLong(
                    f"{address} rejected the request{to_model} because its prompt is too long {said}",
                    self.status,
                    self.details,
                )
            case "filtered":
                return NoAnswer(f"{address} blocked the request{to_model} {said}", "filtered")
            case "key":
                fix = (
                    f"Fix the key in the variable {variable}." if variable else "Set the variable of its key."
                )
                message = f"{address} {'rejected the' if variable else 'needs a'} key {said}. {fix}"
            case "redirect":
                target = display_address(headers.get("location", "")) or "an address that it does not name"
                message = (
                    f"{address} redirects to {target} ({self.status}). Redirects are not followed, since they could "
                    "send the key to another server. If the target is right, set it as `url` in memflow.toml."
                )
            case "refused":
                message = f"{address} rejected the request{to_model} {said}"
        return RequestRefused(message, self.status, self.details)

    def _matches(self, patterns: tuple[str, ...]) -> bool:
        texts = (self.details, *self.codes)
        return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns for text in texts)


def error_response(status: int, content: bytes, redact: Callable[[str], str]) -> ErrorResponse:
    """Return the error in a response of status 300 or above. `redact` removes the key, which the error may repeat."""
    text = redact(content[: 16 * _LONGEST_DETAILS].decode(errors="replace"))
    try:
        error = decode_json(text)
    except ValueError:
        error = text
    return _build(status, error, text)


def error_in_body(error: Any, redact: Callable[[str], str]) -> ErrorResponse:
    """Return the error that the body of a response of status 200 contains; its status is 200 without an HTTP code."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(str(code)) if re.fullmatch("[45][0-9][0-9]", str(code)) else 200
    return _build(status, error, redact(str(error)[: 16 * _LONGEST_DETAILS]), redact)


def _build(
    status: int, error: Any, text: str, redact: Callable[[str], str] = lambda text: text
) -> ErrorResponse:
    codes = frozenset(str(code).lower()[:100] for code in _codes(error))
    message = _CONTROL.sub(" ", printable(redact(_message(error)[: 16 * _LONGEST_DETAILS])))
    return ErrorResponse(status, message[:_LONGEST_MESSAGE], printable(text)[:_LONGEST_DETAILS], codes)


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
