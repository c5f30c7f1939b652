"""Quarantine of one part of a record, such as a question of a conversation. Other parts remain valid.

published_file.py quarantines whole records.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import core_schema


@dataclass(frozen=True)
class InvalidPart:
    """A part of a record that does not match its schema, with the fault."""

    content: Any
    fault: str

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        # A published value is never an InvalidPart; only `or_invalid` creates one.
        return core_schema.is_instance_schema(cls)


def _or_invalid(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError as wrong:
        error = wrong.errors(include_url=False, include_input=False)[0]
        # The first part of the location is the member of the union.
        place = ".".join(str(part) for part in error["loc"][1:])
        return InvalidPart(value, f"at {place or 'the top level'}: {error['msg']}")


OR_INVALID = WrapValidator(_or_invalid)
"""Annotates a field of the type `Part | InvalidPart`: an invalid value becomes an InvalidPart."""
