"""Responses of chat endpoints: the parser that decides how a request ended.

read_reply accepts any bytes. It returns a ChatReply, or raises BrokenReply or ErrorReply, which endpoint.py interprets.
chat.py turns replies into completions. The fields of an answer (choices, message, content) must have the documented
types. Any other invalid field counts as missing, so that an odd token count does not cost the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from memflow.chat.decoding import decode_json, printable
from memflow.chat.requests import End
from memflow.chat.thoughts import split_thoughts
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.tables import WIRE_WORDS

_ENDS = {reason: end for end, reasons in WIRE_WORDS["finish_reasons"].items() for reason in reasons}
"""What a finish reason means for an answer; `failed`: the generation failed at the server."""
MOST_TOKENS = 2**31 - 1
"""Maximum of a token count; a larger number is not a count."""


class BrokenReply(Exception):
    """The exception for a response that is no chat completion. A repeated request may succeed."""


class ErrorReply(Exception):
    """The exception for an error in a response of status 200. Its argument is the decoded error."""


@dataclass(frozen=True, slots=True)
class ReplyUsage:
    """The token counts of a response; None where the server reports none."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A chat completion of a server. `text` contains no thoughts; `note` explains an `end` without an answer.

    `choice` is what the server sent of the completion.
    """

    end: End
    text: str = ""
    thoughts: str = ""
    finish_reason: str = "stop"
    usage: ReplyUsage = ReplyUsage()
    note: str = ""
    choice: Mapping[str, Any] = field(default_factory=dict, compare=False)


def read_reply(content: bytes, profile: Profile) -> ChatReply:
    """Return the reply in the content of a response. Raises BrokenReply and ErrorReply."""
    response = _decode(content)
    if not isinstance(response, dict):
        raise _no_completion("the whole", "an object")
    if response.get("error"):
        raise ErrorReply(response["error"])
    if not response.get("choices"):
        raise BrokenReply("the response has no choices")
    choice = _part(response, "choices", 0)
    if not isinstance(_part(choice, "message"), dict):
        raise _no_completion("choices.0.message", "an object")
    return _reply_of(choice, _usage_of(response.get("usage")), profile)


def _decode(content: bytes) -> Any:
    """Return the decoded JSON, in which numbers may be NaN or Infinity. Raises BrokenReply with the reason.

    The fast parser rejects a byte order mark and raw control characters.
    """
    try:
        return from_json(content)
    except ValueError:
        pass
    start = content[:512].lstrip().lower()
    if not start:
        raise BrokenReply("the response is empty")
    if start.startswith((b"data:", b"event:", b":")):
        raise BrokenReply("the response is an event stream, which was not requested")
    if start.startswith(b"<"):
        raise BrokenReply("the response is HTML or XML, not JSON")
    try:
        return decode_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BrokenReply("the response is not UTF-8") from error
    except ValueError as error:
        raise BrokenReply(f"the response cannot be decoded: {error}") from error


def _no_completion(place: str, kind: str) -> BrokenReply:
    return BrokenReply(f"the response is no chat completion (at {place}: it should be {kind})")


def _reply_of(choice: Mapping[str, Any], usage: ReplyUsage, profile: Profile) -> ChatReply:
    message = choice["message"]
    reason = printable(_text(choice.get("finish_reason")) or "stop")[:64]
    ending = _ENDS.get(reason.lower(), "answered")
    if ending == "failed":
        raise BrokenReply(f"the generation failed at the server (finish reason {reason})")
    text, thoughts = _content_of(message.get("content"))
    if not text and profile.structured == "tool":
        text = _text(_part(message, "tool_calls", 0, "function", "arguments"))
    text = printable(text)
    in_fields = (_joined(message.get(name)) for name in profile.thoughts)
    thoughts = printable(thoughts or next(filter(str.strip, in_fields), ""))
    complete = True
    if any(tag and tag in text for tag in profile.tags):
        text, tagged, complete = split_thoughts(text, profile.tags)
        thoughts = thoughts or tagged
    refusal = printable(_text(message.get("refusal"))).strip()
    end: End = "answered" if text.strip() else "blank"
    note = ""
    if refusal or ending == "refused":
        end, note = "refused", refusal or text
    elif ending == "filtered":
        end, note = "filtered", f"finish reason {reason}"
    elif ending == "cut" or not complete:
        end = "cut"
    return ChatReply(end, text, thoughts, reason, usage, note, choice)


def _content_of(content: Any) -> tuple[str, str]:
    """Return the text and the thoughts of a content, which may be a list of typed parts (Mistral)."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list) or not all(isinstance(part, str | dict) for part in content):
        raise _no_completion("choices.0.message.content", "a string, or a list of parts")
    text = thoughts = ""
    for part in content:
        typed = {"text": part} if isinstance(part, str) else part
        kind = typed.get("type", "text")
        if kind in ("thinking", "reasoning"):
            thoughts += _text(typed.get("text")) + _joined(typed.get("thinking"))
        elif kind in ("text", "output_text"):
            text += _text(typed.get("text"))
    return text, thoughts


def _joined(thoughts: Any) -> str:
    """Return the text of thoughts, which may be a list of details (OpenRouter, Mistral)."""
    if not isinstance(thoughts, list):
        return _text(thoughts)
    return "".join(_text(_part(detail, "text")) or _text(_part(detail, "summary")) for detail in thoughts)


def _usage_of(usage: Any) -> ReplyUsage:
    """Return the token counts. Some gateways count thoughts only in the total, as the surplus over both parts.

    DeepSeek counts cached tokens in `prompt_cache_hit_tokens`.
    """
    prompt, completion, total, hits = (
        _count(_part(usage, name))
        for name in ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_cache_hit_tokens")
    )
    reasoning = _count(_part(usage, "completion_tokens_details", "reasoning_tokens"))
    cached = _count(_part(usage, "prompt_tokens_details", "cached_tokens"))
    if prompt is not None and completion is not None and total is not None and total > prompt + completion:
        reasoning = reasoning or total - prompt - completion
        completion = total - prompt
    return ReplyUsage(prompt, completion, hits if cached is None else cached, reasoning)


def _part(value: Any, *path: str | int) -> Any:
    """Return the part of a decoded response at a path; None where the response has none."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    """Return a token count given as an integer, a float or a string; None for anything else."""
    try:
        count = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(count) if 0 <= count <= MOST_TOKENS else None  # false for NaN
