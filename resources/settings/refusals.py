"""The sentence that refuses a setting: its source, key and value, and what is allowed instead."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from memflow.resources.settings.own_sections import SECRET
from memflow.suggestions import unknown_name

PREFIX = "MEMFLOW_"
"""The first characters of the environment variables that override settings."""
LONGEST = 120
"""Characters of a value that a message shows."""
_CREDENTIALS = re.compile(r"://[^/\s\"']*@")
KEY = "[key]"
"""The last part of pydantic's location where the key of a table is wrong."""
_UNION_MEMBER = re.compile(r"str|int|float|bool|(tuple|dict)\[.*|.*-.*\[.*")
"""The parts of pydantic's locations that name a type of a union."""
_ALLOWED = {
    "bool": "true or false",
    "dict": "a table of settings",
    "float": "a number",
    "int": "an integer",
    "path": "a path in quotes",
    "string": "a text in quotes",
    "tuple": "a list in brackets",
}
"""What a value may be, by the first word of pydantic's error type."""


def refusal(file: Path, wrong: ValidationError, root: type[BaseModel]) -> str:
    """Return the sentence for the first setting that is refused.

    Example:
        memflow.toml: domains = 5 is refused. It must be a list in brackets.
    """
    errors = wrong.errors(include_url=False)
    place = _place(errors[0]["loc"])
    source = _source(file, place)
    first, *others = [error for error in errors if _place(error["loc"]) == place]
    key = ".".join(map(str, place))
    value = "***" if place and SECRET.search(str(place[-1])) else _shown(first["input"])
    if first["type"] == "extra_forbidden":
        unknown = unknown_name(
            "setting", str(place[-1]), _fields(place[:-1], root), "memflow init example.toml"
        )
        return f"{source}: {key} = {value}: {unknown}."
    if first["type"] == "missing":
        return f"{source}: {key} is missing. Add it."
    if first["type"] == "value_error":
        of_field = bool(place) and not isinstance(first["input"], Mapping | BaseModel)
        parts = [source, *([f"{key} = {value}"] if of_field else [key] if place else [])]
        reason = str(first["ctx"]["error"])
        return f"{': '.join(parts)}: {reason}" + ("" if reason.endswith((".", "?")) else ".")
    if KEY in first["loc"]:
        return f"{source}: the name {value} in {key} is refused. It must {_allowed(first, [])}."
    allowed = dict.fromkeys(_allowed(error, _fields(place, root)) for error in (first, *others))
    return f"{source}: {key} = {value} is refused. It must {' or '.join(allowed)}."


def _place(location: Sequence[int | str]) -> tuple[int | str, ...]:
    """Return the keys of a setting, without the types of a union."""
    place: list[int | str] = []
    for part in location:
        if isinstance(part, str) and (part == KEY or _UNION_MEMBER.fullmatch(part)):
            break
        place.append(part)
    return tuple(place)


def _source(file: Path, place: Sequence[int | str]) -> str:
    """Return where a setting comes from: an environment variable, the file, or else the command line."""
    if place:
        variable = f"{PREFIX}{place[0]}".upper()
        for name in os.environ:
            if name == variable or name.startswith(f"{variable}__"):
                return f"the environment variable {name}"
    return str(file) if file.is_file() else "the command line"


def _shown(value: Any) -> str:
    """Return a value as the file would have it, shortened, without credentials in addresses and content of tables."""
    if isinstance(value, Mapping):
        return "{...}"
    text = _CREDENTIALS.sub("://***@", json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _allowed(error: ErrorDetails, names: Sequence[str]) -> str:
    """Return what is allowed where pydantic found an error, after the words `It must`."""
    kind, _, fault = error["type"].partition("_")
    if error["type"] == "model_type" and names:
        return f"be a table with some of the settings {', '.join(names)}"
    if error["type"] == "literal_error":
        return f"be one of {error['ctx']['expected']}"
    if kind == "tuple" and isinstance(error["input"], str):
        return f"be a list: [{_shown(error['input'])}]"
    if fault in ("type", "parsing", "from_float") and kind in _ALLOWED:
        return f"be {_ALLOWED[kind]}"
    return re.sub(r"^\w+ should ", "", error["msg"])


def _fields(place: Sequence[int | str], root: type[BaseModel]) -> list[str]:
    """Return the names of the settings in the section at a place; none if it is no section."""
    section: Any = root
    for part in place:
        if get_origin(section) is dict:
            section = get_args(section)[1]
        elif isinstance(section, type) and issubclass(section, BaseModel) and part in section.model_fields:
            section = section.model_fields[str(part)].annotation
        else:
            return []
    return list(section.model_fields) if isinstance(section, type) and issubclass(section, BaseModel) else []
