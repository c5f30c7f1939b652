"""Responses of chat endpoints: the parser that decides how a request ended.

read_reply accepts any bytes. It returns a ChatReply, or raises BrokenReply or ErrorReply, which endpoint.py interprets.
response_models.py has the types of the fields; chat.py turns replies into completions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from memflow.chat.decoding import decode_json, printable
from memflow.chat.requests import End
from memflow.chat.thoughts import split_thoughts
from resources.endpoints.profiles import Profile
from resources.endpoints.response_models import DETAILS, Choice, Detail, Message, Part, Response, Usage

_CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_FILTERED = frozenset(
    {"content_filter", "content_filtered", "safety", "recitation", "prohibited_content", "blocklist", "spii"}
)
_REFUSED = frozenset({"refusal"})
_FAILED = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons of a generation that failed at the server (OpenRouter, vLLM, DeepSeek)."""


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
    try:
        response = Response.model_validate_json(content)
    except ValidationError:
        response = _read_odd_response(content)
    if response.error:
        raise ErrorReply(response.error)
    if not response.choices:
        raise BrokenReply("the response has no choices")
    return _reply_of(response.choices[0], _usage_of(response.usage), profile)


def _reply_of(choice: Choice, usage: ReplyUsage, profile: Profile) -> ChatReply:
    message, reason = choice.message, printable(choice.finish_reason or "stop")[:64]
    ending = reason.lower()
    if ending in _FAILED:
        raise BrokenReply(f"the generation failed at the server (finish reason {reason})")
    text, thoughts = _content_of(message.content)
    if not text and profile.structured == "tool" and message.tool_calls:
        text = message.tool_calls[0].function.arguments
    text = printable(text)
    thoughts, place = printable(thoughts), "parts of the content"
    if not thoughts:
        thoughts, place = _thoughts_in_fields(message, profile.thoughts)
    complete = True
    if any(tag and tag in text for tag in profile.tags):
        text, tagged, complete = split_thoughts(text, profile.tags)
        if not thoughts:
            thoughts, place = tagged, "tags in the text"
    refusal = printable(message.refusal or "").strip()
    if refusal or ending in _REFUSED:
        end, note = "refused", refusal or text
    elif ending in _FILTERED:
        end, note = "filtered", f"finish reason {reason}"
    elif ending in _CUT or not complete:
        end, note = "cut", ""
    else:
        end, note = ("answered" if text.strip() else "blank"), ""
    return ChatReply(end, text, thoughts, reason, usage, note, place if thoughts else "")  # type: ignore[arg-type]


def _content_of(content: str | list[str | Part] | None) -> tuple[str, str]:
    """Return the text and the thoughts of a content, which may be a list of typed parts (Mistral)."""
    if content is None or isinstance(content, str):
        return content or "", ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif part.type in ("thinking", "reasoning"):
            thoughts += [part.text or "", _joined(part.thinking)]
        elif part.type in ("text", "output_text"):
            texts.append(part.text or "")
    return "".join(texts), "".join(thoughts)


def _thoughts_in_fields(message: "Message", fields: Sequence[str]) -> tuple[str, str]:
    """Return the text and name of the first field that holds thoughts: a string, or a list of details with a text."""
    extra = message.model_extra or {}
    for name in fields:
        if name not in extra:
            continue
        try:
            thoughts = _joined(DETAILS.validate_python(extra[name]))
        except ValidationError:
            continue
        if thoughts.strip():
            return printable(thoughts), name
    return "", ""


def _joined(thoughts: str | list[Detail] | None) -> str:
    if thoughts is None or isinstance(thoughts, str):
        return thoughts or ""
    return "".join(detail.text or detail.summary or "" for detail in thoughts)


def _usage_of(usage: Usage | None) -> ReplyUsage:
    """Return the token counts. Some gateways count thoughts only in the total, as the surplus over both parts."""
    if usage is None:
        return ReplyUsage()
    prompt, completion, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    of_prompt, of_completion = usage.prompt_tokens_details, usage.completion_tokens_details
    reasoning = of_completion.reasoning_tokens if of_completion else None
    if None not in (prompt, completion, total) and total > prompt + completion:  # type: ignore[operator]
        surplus = total - prompt - completion  # type: ignore[operator]
        completion, reasoning = completion + surplus, reasoning or surplus  # type: ignore[operator]
    cached = of_prompt.cached_tokens if of_prompt else usage.prompt_cache_hit_tokens
    return ReplyUsage(prompt, completion, cached, reasoning)


def _read_odd_response(content: bytes) -> Response:
    """Return a response that the fast parser rejects. Raises BrokenReply with the reason."""
    start = content[:512].lstrip().lower()
    if not start:
        raise BrokenReply("the response is empty")
    if start.startswith((b"data:", b"event:", b":")):
        raise BrokenReply("the response is an event stream, which was not requested")
    if start.startswith(b"<"):
        raise BrokenReply("the response is HTML or XML, not JSON")
    try:
        value = decode_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BrokenReply("the response is not UTF-8") from error
    except ValueError as error:
        raise BrokenReply(f"the response cannot be decoded: {error}") from error
    if isinstance(value, dict) and value.get("error"):
        raise ErrorReply(value["error"])
    try:
        return Response.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise BrokenReply(f"the response is no chat completion (at {place}: {first['msg']})") from error
