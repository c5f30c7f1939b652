"""A scripted model whose answers are shifted in a known way, to verify that drift is found and its stage is named.

`SHIFTED` as the `model` of a scripted model selects it. As the simulator it words the options of generated AMemGym
questions so that the scripted assistant cannot read them; as the assistant it always chooses the first option; as the
judge it gives the lowest score. Every other prompt is answered as by the usual scripted chat.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler

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


def shifted_handlers(handlers: Mapping[str, Handler]) -> dict[str, Handler]:
    """Return the handlers of the shifted scripted chat."""
    shifted = dict(handlers)
    for name in MIRRORED:
        shifted[name] = _mirrored(handlers[name])
    shifted[READ_BACK] = _reading_mirrored(handlers[READ_BACK])
    for name in handlers:
        if name.partition("/")[2].startswith("choice"):
            shifted[name] = _first_option(handlers[name])
    for name, floor in FLOORS.items():
        shifted[name] = _lowest(handlers[name], floor)
    return shifted


def _mirrored(handler: Handler) -> Handler:
    def answer(request: ChatRequest) -> BaseModel | str:
        return _with_values(
            handler(request), lambda name, value: value[::-1] if isinstance(value, str) else value
        )

    return answer


def _reading_mirrored(handler: Handler) -> Handler:
    def answer(request: ChatRequest) -> BaseModel | str:
        fields = {**request.fields, "answer": request.fields["answer"][::-1]}
        return handler(replace(request, fields=fields))

    return answer


def _first_option(handler: Handler) -> Handler:
    def answer(request: ChatRequest) -> BaseModel | str:
        return _with_values(handler(request), lambda name, value: 1 if name == "answer" else value)

    return answer


def _lowest(handler: Handler, floor: Mapping[str, Any]) -> Handler:
    def answer(request: ChatRequest) -> BaseModel | str:
        return _with_values(handler(request), floor.get)

    return answer


def _with_values(answer: BaseModel | str, change: Any) -> BaseModel | str:
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
