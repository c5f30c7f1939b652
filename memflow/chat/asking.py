"""Functions that request one typed answer for one prompt.

An answer that the token limit cut is requested again with twice the limit, once. An unusable answer is requested again
together with the error, a limited number of times. If all fail, the Answer has a reason instead of a value. There is no
default value.
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

    @property
    def cut(self) -> bool:
        """Whether the token limit ended the value, which is a text."""
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
    attempts: int = ATTEMPTS,
) -> Answer[Any]:
    """Return the first answer that can be parsed, after at most `attempts` requests and one with a doubled limit.

    The value is an instance of the prompt's output type, or text. `check(value)` returns the error in a parsed value,
    or None; the error is sent to the model. A text that is still cut is kept, and `Answer.cut` is true; a structured
    answer fails. A prompt for text with a limit of its own states that of a published experiment, so a text that
    reaches it is not requested again. A ChatError becomes the reason, except FatalChatError,
    which is raised.
    """
    request = first_request(chat, prompt, fields, history)
    wrong, completion, doubled = "", None, 0
    for attempt in range(1, attempts + 1):
        try:
            completion = await count_completion(chat.complete(request))
            if completion.cut and not doubled and _needs_more_room(completion, prompt):
                doubled = 1
                request, completion = await _complete_with_more_room(chat, request, completion)
        except FatalChatError:
            raise
        except ChatError as error:
            return Answer(None, f"{prompt.name}: {error}", completion, attempt + doubled)
        value, wrong = parse_completion(completion, prompt.output)
        if value is None and completion.cut:
            limit = f"the answer was cut at the limit of {request.sampling.max_tokens} tokens"
            advice = "Raise `output` or `thinking` of its role in [bounds] of memflow.toml, then rerun."
            return Answer(None, f"{prompt.name}: {limit}. {advice}", completion, attempt + doubled)
        if value is not None and check is not None:
            complaint = check(value)
            if complaint:
                value, wrong = None, complaint
        if value is not None:
            return Answer(value, None, completion, attempt + doubled)
        request = _again(request, completion, wrong)
    return Answer(
        None,
        f"{prompt.name}: no usable answer in {attempts} attempts; the last: {wrong}",
        completion,
        attempts + doubled,
    )


def parse_completion(completion: Completion, output: type[BaseModel] | None) -> tuple[Any, str]:
    """Return (value, "") for a completion that can be parsed, otherwise (None, error message)."""
    text = completion.text.strip()
    if output is None:
        return (text, "") if text else (None, "it is empty")
    if completion.cut:
        return None, "it was cut at the token limit"
    try:
        value = decode_json(_unfenced(text))
    except ValueError as error:
        return None, str(error)
    try:
        return output.model_validate(value), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        return None, f"at {place}: {first['msg']}"


def _needs_more_room(cut: Completion, prompt: Prompt) -> bool:
    return prompt.output is not None or prompt.max_tokens is None or not cut.text.strip()


async def _complete_with_more_room(
    chat: Chat, request: ChatRequest, cut: Completion
) -> tuple[ChatRequest, Completion]:
    """Send a request with twice its limit. Return that request and its completion, or the given ones if it fails."""
    sampling = replace(request.sampling, max_tokens=2 * request.sampling.max_tokens)
    larger = replace(request, sampling=sampling, optional=True)
    try:
        return replace(larger, optional=False), await count_completion(chat.complete(larger))
    except FatalChatError:
        raise
    except ChatError:
        return request, cut


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
