"""A scripted model whose answers are shifted in a known way, to verify that drift is found and its stage is named.

With `shifted_models`, SHIFTED as the `model` of a scripted model selects it. As the simulator it words the options of
generated AMemGym questions so that the scripted assistant cannot read them; as the assistant it always chooses the
first option; as the judge it gives the lowest score. Every other prompt is answered as by the usual scripted chat.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.resources.models import clients

SHIFTED = "shifted"
"""The model name of the shifted scripted chat."""
MIRRORED = ("amemgym/answers", "amemgym/answer_again")
READ_BACK = "amemgym/recover"
FLOORS: Mapping[str, Mapping[str, Any]] = {
    "memorybench/checklist": {"score": 0.0},
    "memorybench/quality": {"score": 1},
    "memorybench/criterion": {"score": 1},
}
"""The judge's prompts, with the lowest values of their answers."""


@contextmanager
def shifted_models() -> Iterator[None]:
    """Let SHIFTED name the shifted scripted chat in this process."""
    usual = clients.scripted_handlers

    def handlers(settings: Any, name: str) -> dict[str, Handler]:
        answers = usual(settings, name)
        return shifted_handlers(answers) if name == SHIFTED else answers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clients, "scripted_handlers", handlers)
        yield


def shifted_handlers(handlers: Mapping[str, Handler]) -> dict[str, Handler]:
    """Return the handlers of the shifted scripted chat."""
    shifted = dict(handlers)
    for name in MIRRORED:
        shifted[name] = _shift_answers(handlers[name], _mirror)
    shifted[READ_BACK] = _shift_answer_field(handlers[READ_BACK])
    for name in handlers:
        if name.partition("/")[2].startswith("choice"):
            shifted[name] = _shift_answers(handlers[name], _choose_first)
    for name, floor in FLOORS.items():
        shifted[name] = _shift_answers(handlers[name], floor.get)
    return shifted


def _mirror(name: str, value: Any) -> Any:
    return value[::-1] if isinstance(value, str) else value


def _choose_first(name: str, value: Any) -> Any:
    return 1 if name == "answer" else value


def _shift_answers(handler: Handler, change: Callable[[str, Any], Any]) -> Handler:
    return lambda request: _with_values(handler(request), change)


def _shift_answer_field(handler: Handler) -> Handler:
    """Return a handler that reads the prompt's field `answer`, which is mirrored, in the original order."""

    def answer(request: ChatRequest) -> BaseModel | str:
        fields = {**request.fields, "answer": request.fields["answer"][::-1]}
        return handler(replace(request, fields=fields))

    return answer


def _with_values(answer: BaseModel | str, change: Callable[[str, Any], Any]) -> BaseModel | str:
    """Return an answer with every value of its fields and lists replaced by `change(field, value)`."""

    def changed_value(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed_value(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [changed_value(name, item) for item in value]
        return change(name, value)

    if isinstance(answer, str):
        return answer
    return type(answer).model_validate(changed_value("", answer.model_dump()))
