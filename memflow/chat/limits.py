"""Limits of the strings and lists of an output type, and the acceptance of an answer item by item.

A limit bounds runaway answers; a parameter of a memory sets its size. A list with a limit accepts the valid items of an
answer and reports invalid items. request_bounds.py checks that a type is bounded; a request has its bound on tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, GetCoreSchemaHandler, ValidationError, ValidationInfo, create_model
from pydantic_core import CoreSchema, core_schema

from memflow.chat.prompts import Prompt

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
ItemCheck = Callable[[Any, Sequence[Any]], str | None]
"""Returns the error in an item of an answer, given the items accepted before it; None for a valid item."""


@dataclass
class ItemReport:
    """The findings of one validation: reasons of invalid items, and strings and lists as long as their limit.

    The report is the validation context. Without a report, an invalid item makes the whole answer invalid.
    """

    failed: list[str] = field(default_factory=list)
    at_limit: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Limit:
    """A maximum length, as the last item of `Annotated[str, …]` or `Annotated[list[…], …]`.

    `size` counts characters or items; `name` is the memory parameter that sets it. A longer string is invalid; with an
    ItemReport, a longer list is cut and the report lists the rest.
    """

    name: str
    size: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the core schema of the annotated type with its maximum length."""
        schema = cast(Any, {**handler(source), "max_length": self.size})
        if schema["type"] == "list":
            return core_schema.with_info_wrap_validator_function(self._accept_items, schema)
        return core_schema.with_info_after_validator_function(self._report_string, schema)

    def _report_string(self, value: str, info: ValidationInfo) -> str:
        if isinstance(info.context, ItemReport) and len(value) == self.size:
            info.context.at_limit.append(f"{info.field_name} has {self.size:,} characters")
        return value

    def _accept_items(self, value: Any, handler: Callable[[Any], Any], info: ValidationInfo) -> Any:
        """Return the valid items among the first `size`. Raises ValidationError if too few items are valid."""
        report, name = info.context, info.field_name
        if not isinstance(report, ItemReport) or not isinstance(value, list):
            return handler(value)
        if len(value) >= self.size:
            report.at_limit.append(f"{name} has {self.size:,} items")
        if len(value) > self.size:
            report.failed.append(f"{name}: {len(value) - self.size:,} items after the first {self.size:,}")
        items, failed_count, at_limit_count = value[: self.size], len(report.failed), len(report.at_limit)
        try:
            return handler(items)
        except ValidationError as error:
            errors = _errors_by_item(error)
            if not errors:
                raise
        # The valid items are validated again, which reports what is inside of them again.
        del report.failed[failed_count:], report.at_limit[at_limit_count:]
        report.failed += [f"{name}, item {number + 1}: {reason}" for number, reason in errors.items()]
        return handler([item for number, item in enumerate(items) if number not in errors])


TEXT, ITEMS = Limit("max_text", 8_000), Limit("max_items", 200)
"""The limits of every string and of every list, with their default sizes."""

OptionalText = Annotated[str, TEXT]
Text = Annotated[str, Field(min_length=1), TEXT]
Items = Annotated[list[T], ITEMS]
SomeItems = Annotated[list[T], Field(min_length=1), ITEMS]
Number = Annotated[int, Field(ge=1, le=9_999)]
"""The number of an item that the prompt shows in a numbered list."""


def _errors_by_item(error: ValidationError) -> dict[int, str]:
    """Return the first error in each invalid item of a list, by the position of the item."""
    errors: dict[int, str] = {}
    for item in error.errors(include_url=False, include_input=False, include_context=False):
        if item["loc"]:
            path = ".".join(str(part) for part in item["loc"][1:])
            errors.setdefault(cast(int, item["loc"][0]), f"{path}: {item['msg']}" if path else item["msg"])
    return errors


def drop_invalid_items(answer: BaseModel, check: ItemCheck, report: ItemReport) -> None:
    """Remove the items in which `check` finds an error from the lists of `answer`, and report the errors."""
    accepted: list[Any] = []
    for name, items in answer:
        if isinstance(items, list):
            start = len(accepted)
            for item in items:
                if (fault := check(item, accepted)) is None:
                    accepted.append(item)
                else:
                    report.failed.append(f"{name}: {fault}")
            setattr(answer, name, accepted[start:])


def has_content(answer: BaseModel) -> bool:
    """Return whether an answer has anything but empty lists."""
    return any(value != [] for _, value in answer)


def limit_prompt(prompt: Prompt, parameters: Mapping[str, Any]) -> Prompt:
    """Return the prompt with an output type whose limits have the sizes in `parameters`."""
    if prompt.output is None or (output := limit_output(prompt.output, parameters)) is prompt.output:
        return prompt
    return replace(prompt, output=output)


def limit_output(output: type[M], parameters: Mapping[str, Any]) -> type[M]:
    """Return an output type whose limits have the sizes in `parameters`; other limits do not change."""
    sizes = tuple(parameters.get(limit.name, limit.size) for limit in (TEXT, ITEMS))
    return cast(type[M], _limit_output(output, sizes))


@cache
def _limit_output(output: type[BaseModel], sizes: tuple[int, int]) -> type[BaseModel]:
    """Return the output type with the sizes of (TEXT, ITEMS); the same type if no limit changes."""
    hints = get_type_hints(output, include_extras=True)
    resized_fields: dict[str, Any] = {}
    for name, info in output.model_fields.items():
        resized = _resize(hints[name], sizes)
        if resized != hints[name]:
            default = cast(Any, Field)(default=info.default, default_factory=info.default_factory)
            resized_fields[name] = (resized, default)
    if not resized_fields:
        return output
    return create_model(output.__name__, __base__=output, __doc__=output.__doc__, **resized_fields)


def _resize(hint: Any, sizes: tuple[int, int]) -> Any:
    """Return a type hint or annotation in which the limits have the given sizes."""
    if isinstance(hint, Limit):
        return replace(hint, size=sizes[hint.name == ITEMS.name])
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return _limit_output(hint, sizes)
    parts = tuple(_resize(part, sizes) for part in get_args(hint))
    match get_origin(hint):
        case origin if origin is Annotated:
            return cast(Any, Annotated)[parts]
        case origin if origin is list:
            return cast(Any, list)[parts]
        case origin if origin in (Union, UnionType):
            return cast(Any, Union)[parts]
    return hint
