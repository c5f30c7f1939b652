"""Functions that request one typed answer for one prompt.

An answer that the token limit cut is requested again with twice the limit, once; but not an answer that repeats itself,
which a larger limit would only make longer (loops.py). An unusable answer is requested again
together with the error, a limited number of times. If all fail, the Answer has a reason instead of a value. There is no
default value. Lists with a limit are accepted item by item (limits.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memflow.chat.decoding import decode_json
from memflow.chat.limits import ItemCheck, ItemReport, drop_invalid_items, has_content
from memflow.chat.loops import loop_in_strings, loop_of
from memflow.chat.prompts import Prompt, load
from memflow.chat.requests import Chat, ChatMessage, ChatRequest, Completion
from memflow.errors import ChatError, FatalChatError
from memflow.timing import count_completion

T = TypeVar("T")

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The result of `ask`: a `value`, or None and the `reason`. `completion` is the last completion, if any.

    `failed` has the reasons of the items that are not part of the value. `at_limit` names the strings and lists that
    are as long as their limit allows.
    """

    value: T | None
    reason: str | None = None
    completion: Completion | None = None
    attempts: int = 0
    failed: tuple[str, ...] = ()
    at_limit: tuple[str, ...] = ()

    @property
    def digest(self) -> str | None:
        """The ledger digest of the last completion, or None for an unrecorded completion."""
        return (self.completion.digest or None) if self.completion else None

    @property
    def cut(self) -> bool:
        """Whether the value is a text that the token limit cut."""
        return self.value is not None and self.completion is not None and self.completion.cut


def first_request(
    chat: Chat, prompt: Prompt, fields: Mapping[str, Any], history: Sequence[ChatMessage] = ()
) -> ChatRequest:
    """Return the first request that `ask` would send, for forecasts and tests."""
    sampling = replace(chat.sampling, max_tokens=chat.bound.of(prompt.max_tokens))
    if prompt.temperature is not None:
        sampling = replace(sampling, temperature=prompt.temperature)
    messages = prompt.render(fields, history)
    return ChatRequest(
        prompt.name, fields, messages, sampling, prompt.output, usual_tokens=prompt.usual_tokens
    )


async def ask(
    chat: Chat,
    prompt: Prompt,
    fields: Mapping[str, Any],
    history: Sequence[ChatMessage] = (),
    *,
    check: Any = None,
    check_item: ItemCheck | None = None,
    attempts: int = ATTEMPTS,
) -> Answer[Any]:
    """Return the first answer that can be parsed, after at most `attempts` requests and one with a doubled limit.

    The value is an instance of the prompt's output type, or text. A text that is cut twice is kept, and `Answer.cut` is
    true; a structured answer fails. The `max_tokens` of a prompt for text is the limit of a published experiment, so
    a text that reaches this limit is not requested again.

    `check_item` removes invalid items from the lists of a parsed value, which is unusable if it is then empty.
    `check(value)` returns the error in the value, or None; the error is sent to the model. A ChatError becomes the
    reason, except FatalChatError, which is raised.
    """
    request = first_request(chat, prompt, fields, history)
    fault, completion, doubled = "", None, 0
    for attempt in range(1, attempts + 1):
        try:
            completion = await count_completion(chat.complete(request))
            if completion.cut and not doubled and _needs_more_room(completion, request, prompt):
                doubled = 1
                request, completion = await _complete_with_more_room(chat, request, completion)
        except FatalChatError:
            raise
        except ChatError as error:
            return Answer(None, f"{prompt.name}: {error}", completion, attempt + doubled)
        report = ItemReport()
        value, fault = parse_completion(completion, prompt.output, report)
        at_bound = report.at_limit and isinstance(value, BaseModel)
        loop = loop_in_strings(value.model_dump_json()) if at_bound else ""
        if (value is None and completion.cut) or loop:
            return Answer(None, _cut_reason(request, completion, loop), completion, attempt + doubled)
        if value is not None:
            fault = _find_error(value, check, check_item, report)
        if not fault:
            failed_items, at_limit = (
                (f"{prompt.name}: {text}" for text in texts) for texts in (report.failed, report.at_limit)
            )
            return Answer(value, None, completion, attempt + doubled, tuple(failed_items), tuple(at_limit))
        request = _again(request, completion, fault)
    return Answer(
        None,
        f"{prompt.name}: no usable answer in {attempts} attempts; the last: {fault}. {_forget('retried', prompt.name)}",
        completion,
        attempts + doubled,
    )


def _cut_reason(request: ChatRequest, completion: Completion, loop: str) -> str:
    """Return why a cut answer is unusable, and how to fix it. `loop` is what one of its strings repeats, or ""."""
    repeated = f"`{loop[:60]}`" if loop else loop_of(completion.text, request.output)
    if repeated:
        return (
            f"{request.prompt}: the answer repeats {repeated} until its bound. A larger bound makes such an answer "
            "longer, not better: use another model, or set a repetition penalty of its server in `body` of its profile "
            f"in memflow.toml. {_forget('loop', request.prompt)}"
        )
    return (
        f"{request.prompt}: the answer was cut at the limit of {request.sampling.max_tokens} tokens. Raise `output` or "
        "`thinking` of its role in [token_limits] of memflow.toml, then rerun. If the server was at fault: "
        f"{_forget('cut', request.prompt)}"
    )


def _forget(kind: str, prompt: str) -> str:
    """Return the instruction to remove answers from the ledger, without which every rerun uses them again."""
    command = f"memflow ledger forget --kind {kind} --prompt {prompt}"
    return f"`{command}`, then `memflow run --force`, requests it again."


def _find_error(value: Any, check: Any, check_item: ItemCheck | None, report: ItemReport) -> str:
    """Drop the invalid items of a parsed answer. Return the error that makes the answer unusable, or ""."""
    if check_item is not None:
        drop_invalid_items(value, check_item, report)
    if report.failed and not has_content(value):
        return report.failed[0]
    return (check(value) if check is not None else None) or ""


def parse_completion(
    completion: Completion, output: type[BaseModel] | None, report: ItemReport | None = None
) -> tuple[Any, str]:
    """Return (value, "") for a completion that can be parsed, otherwise (None, error message).

    With a `report`, lists with a limit are accepted item by item.
    """
    text = completion.text.strip()
    if output is None:
        return (text, "") if text else (None, "it is empty")
    if completion.cut:
        return None, "it was cut at the token limit"
    try:
        value = decode_json(_json_in(text))
    except ValueError as error:
        return None, str(error)
    try:
        return output.model_validate(value, context=report), ""
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        location = ".".join(str(part) for part in detail["loc"]) or "the whole"
        return None, f"at {location}: {detail['msg']}"


def _needs_more_room(completion: Completion, request: ChatRequest, prompt: Prompt) -> bool:
    """Return whether a cut answer is requested with a larger limit. Without a text, its thoughts were cut."""
    if not completion.text.strip():
        return True
    structured = request.output is not None
    return (structured or prompt.max_tokens is None) and not loop_of(completion.text, request.output)


async def _complete_with_more_room(
    chat: Chat, request: ChatRequest, completion: Completion
) -> tuple[ChatRequest, Completion]:
    """Send a request with twice its limit. Return the new request and completion; the given pair after a failure.

    The request is optional only if the cut text can be used; otherwise a later run has to send the request again.
    """
    sampling = replace(request.sampling, max_tokens=2 * request.sampling.max_tokens)
    usable = request.output is None and bool(completion.text.strip())
    larger_request = replace(request, sampling=sampling, optional=usable, retry=True)
    try:
        return replace(larger_request, optional=False), await count_completion(chat.complete(larger_request))
    except FatalChatError:
        raise
    except ChatError:
        return request, completion


def _json_in(text: str) -> str:
    """Return the JSON of an answer without the code fence around it, or without the prose before and after it."""
    if text.startswith("```"):
        return text.split("\n", 1)[-1].rsplit("```", 1)[0]
    start, end = text.find("{"), text.rfind("}")
    if text.startswith(("{", "[")) or start < 0 or end < start:
        return text
    return text[start : end + 1]


def _again(request: ChatRequest, completion: Completion, fault: str) -> ChatRequest:
    """Return the next attempt of a request: its messages, the last unusable answer, and the error `fault` in it."""
    messages = (
        *request.messages,
        ChatMessage("assistant", completion.text or "(nothing)"),
        *load("memflow.chat", "again").render({"wrong": fault}),
    )
    if request.attempt > 0:  # keep the request short: the last failure only, not the history of them
        messages = (*request.messages[:-2], *messages[-2:])
    return replace(request, messages=messages, attempt=request.attempt + 1, retry=True)
