"""Responses of chat endpoints: the parser that decides how a request ended.

read_reply accepts any bytes. It returns a ChatReply, or raises BrokenReply or ErrorReply, which endpoint.py interprets.
chat.py turns replies into completions. The fields of an answer (choices, message, content) must have the documented
types. Any other invalid field counts as missing, so that an odd token count does not cost the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from memflow.chat.decoding import decode_json, printable
from memflow.chat.requests import End
from memflow.chat.thoughts import split_thoughts
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.wire_words import WIRE_WORDS

_ENDS = {reason: end for end, reasons in WIRE_WORDS["finish_reasons"].items() for reason in reasons}
"""What a finish reason means for an answer; `failed`: the generation failed at the server."""
MOST_TOKENS = 2**31 - 1
"""Maximum of a token count; a larger number is not a count."""


class BrokenReply(Exception):
    """The exception for a response that is no chat completion. A repeated request may succeed."""


class ErrorReply(Exception):
    """The exception for an error in a response of status 200. `error` is the decoded error."""

    def __init__(self, error: Any) -> None:
        super().__init__("the response is an error")
        self.error = error


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

    `thoughts_place` is where the response had its thoughts: a field's name, or a phrase; empty without thoughts.
    """

    end: End
    text: str = ""
    thoughts: str = ""
    finish_reason: str = "stop"
    usage: ReplyUsage = ReplyUsage()
    note: str = ""
    thoughts_place: str = ""


def read_reply(content: bytes, profile: Profile) -> ChatReply:
    """Return the reply in the content of a response. Raises BrokenReply and ErrorReply."""
    response = _decode(content)
    if not isinstance(response, dict):
        raise _no_completion("the whole", "an object")
    if response.get("error"):
        raise ErrorReply(response["error"])
    choices = response.get("choices", [])
    if not isinstance(choices, list):
        raise _no_completion("choices", "a list")
    if not choices:
        raise BrokenReply("the response has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise _no_completion("choices.0.message", "an object")
    reason = _text(choice.get("finish_reason")) or "stop"
    return _reply_of(message, printable(reason)[:64], _usage_of(response.get("usage")), profile)


def _decode(content: bytes) -> Any:
    """Return the decoded JSON, in which numbers may be NaN or Infinity. Raises BrokenReply with the reason."""
    try:
        return from_json(content)
    except ValueError:
        return _decode_odd(content)


def _decode_odd(content: bytes) -> Any:
    """Return JSON that the fast parser rejects, such as with a byte order mark or raw control characters."""
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


def _reply_of(message: Mapping[str, Any], reason: str, usage: ReplyUsage, profile: Profile) -> ChatReply:
    ending = _ENDS.get(reason.lower(), "answered")
    if ending == "failed":
        raise BrokenReply(f"the generation failed at the server (finish reason {reason})")
    text, thoughts = _content_of(message.get("content"))
    if not text and profile.structured == "tool":
        text = _tool_arguments(message.get("tool_calls"))
    text = printable(text)
    thoughts, place = printable(thoughts), "parts of the content"
    if not thoughts:
        thoughts, place = _thoughts_in_fields(message, profile.thoughts)
    complete = True
    if any(tag and tag in text for tag in profile.tags):
        text, tagged, complete = split_thoughts(text, profile.tags)
        if not thoughts:
            thoughts, place = tagged, "tags in the text"
    refusal = printable(_text(message.get("refusal"))).strip()
    end: End
    if refusal or ending == "refused":
        end, note = "refused", refusal or text
    elif ending == "filtered":
        end, note = "filtered", f"finish reason {reason}"
    elif ending == "cut" or not complete:
        end, note = "cut", ""
    else:
        end, note = ("answered" if text.strip() else "blank"), ""
    return ChatReply(end, text, thoughts, reason, usage, note, place if thoughts else "")


def _content_of(content: Any) -> tuple[str, str]:
    """Return the text and the thoughts of a content, which may be a list of typed parts (Mistral)."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list) or not all(isinstance(part, str | dict) for part in content):
        raise _no_completion("choices.0.message.content", "a string, or a list of parts")
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = part.get("type", "text")
        if kind in ("thinking", "reasoning"):
            thoughts += [_text(part.get("text")), _joined(part.get("thinking"))]
        elif kind in ("text", "output_text"):
            texts.append(_text(part.get("text")))
    return "".join(texts), "".join(thoughts)


def _tool_arguments(calls: Any) -> str:
    """Return the arguments of the first tool call, which are JSON; empty without a call."""
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, dict) else None
    return _text(function.get("arguments")) if isinstance(function, dict) else ""


def _thoughts_in_fields(message: Mapping[str, Any], fields: Sequence[str]) -> tuple[str, str]:
    """Return the text and name of the first field that holds thoughts: a string, or a list of details with a text."""
    for name in fields:
        thoughts = _joined(message.get(name))
        if thoughts.strip():
            return printable(thoughts), name
    return "", ""


def _joined(thoughts: Any) -> str:
    """Return the text of thoughts, which may be a list of details (OpenRouter, Mistral)."""
    if not isinstance(thoughts, list):
        return _text(thoughts)
    details = [detail for detail in thoughts if isinstance(detail, dict)]
    return "".join(_text(detail.get("text")) or _text(detail.get("summary")) for detail in details)


def _usage_of(usage: Any) -> ReplyUsage:
    """Return the token counts. Some gateways count thoughts only in the total, as the surplus over both parts.

    DeepSeek counts cached tokens in `prompt_cache_hit_tokens`.
    """
    if not isinstance(usage, dict):
        return ReplyUsage()
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    total = _count(usage.get("total_tokens"))
    of_prompt, of_completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    reasoning = _count(of_completion.get("reasoning_tokens")) if isinstance(of_completion, dict) else None
    if prompt is not None and completion is not None and total is not None and total > prompt + completion:
        surplus = total - prompt - completion
        completion, reasoning = completion + surplus, reasoning or surplus
    if isinstance(of_prompt, dict):
        cached = _count(of_prompt.get("cached_tokens"))
    else:
        cached = _count(usage.get("prompt_cache_hit_tokens"))
    return ReplyUsage(prompt, completion, cached, reasoning)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    """Return a token count given as an integer, a float or a string; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MOST_TOKENS else None  # false for NaN
