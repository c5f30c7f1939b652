"""Bounds of an output type that follow the material of one request.

An answer about two short messages names no message 9,999 and no 200 facts, and its texts are not much longer than what
they are about. A server that enforces the schema ends loops at these bounds. The base type still validates the answer.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel
from pydantic_core import from_json

from memflow.chat.limits import ItemReport
from memflow.chat.prompts import Prompt

LEAST_CHARACTERS = 1024
"""Material counts as at least so many characters: texts of up to 1,241 were recorded for short messages."""
CHARACTERS_PER_ITEM = 32
"""An answer has at most one item for so many characters of the material."""


class BoundedOutput:
    """The output type `base` with narrower bounds in its JSON schema. Equal arguments return the same object.

    `characters` is the length of the material: texts have at most twice as many characters. `numbers` has the maximum
    of the integers of a property, and of the items of a list, by the name of the property.
    """

    def __init__(self, base: type[BaseModel], characters: int, numbers: Mapping[str, int]) -> None:
        self.__name__ = base.__name__
        self.base = base
        self.text, self.items = 2 * characters, characters // CHARACTERS_PER_ITEM
        self.numbers = numbers
        self._schema = self._bounded(base.model_json_schema())

    def model_validate(self, value: Any, *, context: Any = None) -> Any:
        """Return the instance of the base class, and report texts at their bound. Raises pydantic.ValidationError."""
        instance = self.base.model_validate(value, context=context)
        if isinstance(context, ItemReport):
            context.at_limit += [
                f"{name} has {self.text:,} characters" for name in _long_texts("", value, self.text)
            ]
        return instance

    def model_json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the base class with the narrower bounds."""
        return self._schema

    def excess(self, json_text: str) -> str:
        """Return by which property a JSON text that may be cut counts on beyond its bound; "" if by none."""
        try:
            value = from_json(json_text, allow_partial="trailing-strings")
        except ValueError:
            return ""
        return self._excess("", value)

    def _excess(self, name: str, value: Any) -> str:
        """Return the name of the first property in `value`, itself named `name`, that is beyond its bound, or ""."""
        if isinstance(value, dict):
            return next(filter(None, (self._excess(key, inner) for key, inner in value.items())), "")
        maximum = self.numbers.get(name)
        if isinstance(value, list):
            if maximum is not None and len(value) > maximum:
                return name
            return next(filter(None, (self._excess(name, item) for item in value)), "")
        return name if maximum is not None and isinstance(value, int) and value > maximum else ""

    def _bounded(self, part: Any, name: str = "") -> Any:
        """Return a part of a JSON schema with narrower bounds, but not below its minimums. `name` is its property."""
        if not isinstance(part, dict):
            return part
        maximum = self.numbers.get(name)
        bounds = {
            "maxLength": self.text,
            "maxItems": self.items if maximum is None else maximum,
            **({} if maximum is None else {"maximum": maximum}),
        }
        minimums = {f"max{end}": part.get(f"min{end}", 0) for end in ("Length", "Items", "imum")}
        bounded = {
            key: max(minimums[key], min(value, bounds[key])) if key in bounds else value
            for key, value in part.items()
        }
        for key in ("properties", "$defs"):
            if key in part:
                bounded[key] = {inner: self._bounded(value, inner) for inner, value in part[key].items()}
        for key in ("anyOf", "oneOf", "allOf"):
            if key in part:
                bounded[key] = [self._bounded(option, name) for option in part[key]]
        if "items" in part:
            bounded["items"] = self._bounded(part["items"], name)
        return bounded


def bound_prompt(prompt: Prompt, fields: Mapping[str, Any], numbers: Mapping[str, int]) -> Prompt:
    """Return the prompt with an output type whose bounds follow the request: its fields and its numbered lists.

    The length of the fields is rounded up to a power of two, since a server compiles each schema once.
    """
    if prompt.output is None:
        return prompt
    characters = max(LEAST_CHARACTERS, sum(len(str(value)) for value in fields.values()))
    rounded = 1 << (characters - 1).bit_length()
    output: Any = _bounded_output(prompt.output, rounded, tuple(sorted(numbers.items())))
    return replace(prompt, output=output)


@lru_cache(maxsize=1024)
def _bounded_output(
    base: type[BaseModel], characters: int, numbers: tuple[tuple[str, int], ...]
) -> BoundedOutput:
    return BoundedOutput(base, characters, dict(numbers))


def _long_texts(name: str, value: Any, min_characters: int) -> list[str]:
    """Return the property of each text in `value` with at least `min_characters`; `name` is the property of `value`."""
    if isinstance(value, str):
        return [name] if len(value) >= min_characters else []
    if not isinstance(value, dict | list):
        return []
    inner = value.items() if isinstance(value, dict) else ((name, item) for item in value)
    return [long_name for key, item in inner for long_name in _long_texts(key, item, min_characters)]
