"""Functions that request one typed answer for one prompt.

An unusable answer is requested again together with the error, a limited number of times. If all fail, the Answer has a
reason instead of a value. There is no default value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memflow.chat.decoding import decode_json
from memflow.chat.prompts import Prompt, load
from memflow.chat.requests import Chat, ChatMessage, ChatRequest, Completion
from memflow.errors import ChatError, FatalChatError
from memflow.timing import count_completion

T = TypeVar("T")

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The result of `ask`: a `value`, or None and the `reason`. `completion` is the last completion, if any."""

    value: T | None
    reason: str | None = None
    completion: Completion | None = None
    attempts: int = 0


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
    attempts: int = ATTEMPTS,
) -> Answer[Any]:
    """Return the first answer that can be parsed, after at most `attempts` requests.

    The value is an instance of the prompt's output type, or text. `check(value)` returns the error in a parsed value,
    or None; the error is sent to the model. A ChatError becomes the reason, except FatalChatError, which is raised.
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
        value, wrong = parse_completion(completion, prompt.output)
        if value is not None and check is not None:
            complaint = check(value)
            if complaint:
                value, wrong = None, complaint
        if value is not None:
            return Answer(value, None, completion, attempt + 1)
        request = _again(request, completion, wrong)
    return Answer(
        None,
        f"{prompt.name}: no usable answer in {attempts} attempts; the last: {wrong}",
        completion,
        attempts,
    )


def parse_completion(completion: Completion, output: type[BaseModel] | None) -> tuple[Any, str]:
    """Return (value, "") for a completion that can be parsed, otherwise (None, error message)."""
    text = completion.text.strip()
    if output is None:
        return (text, "") if text else (None, "it is empty")
    if completion.finish_reason == "length":
        return None, "it was cut off at the token limit"
    try:
        value = decode_json(_json_in(text))
    except ValueError as error:
        return None, str(error)
    try:
        return output.model_validate(value), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        return None, f"at {place}: {first['msg']}"


def _json_in(text: str) -> str:
    """Return the JSON of an answer without the code fence around it, or without the prose before and after it."""
    if text.startswith("```"):
        return text.split("\n", 1)[-1].rsplit("```", 1)[0]
    first, last = text.find("{"), text.rfind("}")
    if text.startswith(("{", "[")) or first < 0 or last < first:
        return text
    return text[first : last + 1]


def _again(request: ChatRequest, completion: Completion, wrong: str) -> ChatRequest:
    told = (
        *request.messages,
        ChatMessage("assistant", completion.text or "(nothing)"),
        *load("memflow.chat", "again").render({"wrong": wrong}),
    )
    if request.attempt > 0:  # keep the request short: the last failure only, not the history of them
        told = (*request.messages[:-2], *told[-2:])
    return replace(request, messages=told, attempt=request.attempt + 1)
