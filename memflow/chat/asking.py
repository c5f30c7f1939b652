"""Functions that request one typed answer for one prompt.

An unusable answer is requested again together with the error, a limited number of times. If all fail, the Answer has a
reason instead of a value. There is no default value. Lists with a limit are accepted item by item (limits.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memflow.chat.decoding import decode_json
from memflow.chat.limits import ItemCheck, ItemReport, drop_invalid_items, has_content
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


def first_request(
    chat: Chat, prompt: Prompt, fields: Mapping[str, Any], history: Sequence[ChatMessage] = ()
) -> ChatRequest:
    """Return the first request that `ask` would send, for forecasts and tests."""
    sampling = chat.sampling
    if prompt.max_tokens is not None:
        sampling = replace(sampling, max_tokens=prompt.max_tokens)
    if prompt.temperature is not None:
        sampling = replace(sampling, temperature=prompt.temperature)
    return ChatRequest(prompt.name, fields, prompt.render(fields, history), sampling, prompt.output)


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
    """Return the first answer that can be parsed, after at most `attempts` requests.

    The value is an instance of the prompt's output type, or text. `check_item` removes invalid items from the lists of
    a parsed value, which is unusable if it is empty then. `check(value)` returns the error in the rest, or None; the
    error is sent to the model. A ChatError becomes the reason, except FatalChatError, which is raised.
    """
    request = first_request(chat, prompt, fields, history)
    wrong, completion = "", None
    for attempt in range(attempts):
        try:
            completion = await count_completion(chat.complete(request))
        except FatalChatError:
            raise
        except ChatError as error:
            return Answer(None, f"{prompt.name}: {error}", completion, attempt + 1)
        report = ItemReport()
        value, wrong = parse_completion(completion, prompt.output, report)
        if value is not None:
            wrong = _find_error(value, check, check_item, report)
        if not wrong:
            failed, at_limit = (
                (f"{prompt.name}: {one}" for one in found) for found in (report.failed, report.at_limit)
            )
            return Answer(value, None, completion, attempt + 1, tuple(failed), tuple(at_limit))
        request = _again(request, completion, wrong)
    return Answer(
        None,
        f"{prompt.name}: no usable answer in {attempts} attempts; the last: {wrong}",
        completion,
        attempts,
    )


def _find_error(value: Any, check: Any, check_item: ItemCheck | None, report: ItemReport) -> str:
    """Drop the invalid items of a parsed answer. Return the error that makes the rest unusable, or an empty text."""
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
    if completion.finish_reason == "length":
        return None, "it was cut off at the token limit"
    try:
        value = decode_json(_unfenced(text))
    except ValueError as error:
        return None, str(error)
    try:
        return output.model_validate(value, context=report), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        return None, f"at {place}: {first['msg']}"


def _unfenced(text: str) -> str:
    """Return the JSON of an answer without the code fence around it."""
    if text.startswith("```"):
        text = text.split("\n", 1)[-1].rsplit("```", 1)[0]
    return text


def _again(request: ChatRequest, completion: Completion, wrong: str) -> ChatRequest:
    told = (
        *request.messages,
        ChatMessage("assistant", completion.text or "(nothing)"),
        *load("memflow.chat", "again").render({"wrong": wrong}),
    )
    if request.attempt > 0:  # keep the request short: the last failure only, not the history of them
        told = (*request.messages[:-2], *told[-2:])
    return replace(request, messages=told, attempt=request.attempt + 1)
