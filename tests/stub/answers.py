"""Random values that satisfy a JSON schema, for the stub model server.

The module supports only the schemas that pydantic generates for bounded output types.
"""

import json
import random
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from memflow.resources.endpoints.schema_dialect import BOUNDS

_WORDS = (
    "walk garden river summer bread tea train letter music house friend doctor budget plan week morning city school"
    " north paper light story winter table the a my this quiet early small warm likes wants asks keeps finds"
)
WORDS = _WORDS.split()


_VALUE = r'(-?\d+(?:\.\d+)?|true|false|".*?")'
_STATED = {
    keyword: re.compile(re.escape(words).replace(r"\{\}", _VALUE) + r"(?= |$)")
    for keyword, words in BOUNDS.items()
}

DEVIATION = 0.2
"""The standard deviation of the length of recorded assistant replies, as a share of their mean."""


def random_text(chance: random.Random, least: int = 0, most: int = 80) -> str:
    """Return random words with a total length of `least` to `most` characters, at most 80 unless `least` is larger."""
    wanted = chance.randint(least, max(least, min(most, 80)))
    said = ""
    while len(said) < wanted:
        said += chance.choice(WORDS) + " "
    said = said[:wanted]
    return said[:-1] + "." if said.endswith(" ") else said


def random_prose(chance: random.Random, mean: int) -> str:
    """Return sentences in paragraphs. Their length is normal with this mean; the deviation is that of recorded runs."""
    wanted = max(1, round(chance.gauss(mean, DEVIATION * mean)))
    said = ""
    while len(said) < wanted:
        words = " ".join(chance.choices(WORDS, k=chance.randint(6, 20)))
        said += f"{words.capitalize()}.{chance.choice([' ', ' ', chr(10) * 2])}"
    return said[:wanted].strip()


def random_instance(schema: Mapping[str, Any], chance: random.Random) -> Any:
    """Return a random value of `schema`. Raises ValueError for an unsupported schema."""
    return _of(schema, schema.get("$defs", {}), chance)


def obeying(schema: Any) -> Any:
    """Return a schema with the bounds that its descriptions state in words, as a model obeys them."""
    if isinstance(schema, list):
        return [obeying(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: obeying(part) for key, part in schema.items()}
    return inner | stated_bounds(str(schema.get("description", "")))


def stated_bounds(description: str) -> dict[str, Any]:
    """Return the keywords that the description of an adapted schema states in words, with their values."""
    matches = ((keyword, pattern.search(description)) for keyword, pattern in _STATED.items())
    return {keyword: json.loads(match[1]) for keyword, match in matches if match}


def _of(part: Mapping[str, Any], defs: Mapping[str, Any], chance: random.Random) -> Any:
    if "$ref" in part:
        return _of(defs[part["$ref"].rpartition("/")[2]], defs, chance)
    if "enum" in part or "const" in part:
        return chance.choice(part.get("enum") or [part["const"]])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in part:
            return _of(chance.choice(part[several]), defs, chance)
    if part.get("type") not in _GENERATORS:
        raise ValueError(f"the stub server cannot generate a value of the schema {dict(part)}. Extend `_of`.")
    return _GENERATORS[part["type"]](part, defs, chance)


def _object(part: Mapping[str, Any], defs: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
    members = part.get("properties", {})
    values = {name: _of(member, defs, chance) for name, member in members.items()}
    dates = [name for name, member in members.items() if member.get("format") == "date"]
    return values | dict(
        zip(dates, sorted(values[name] for name in dates), strict=True)
    )  # A first and a last day.


def _array(part: Mapping[str, Any], defs: Mapping[str, Any], chance: random.Random) -> list[Any]:
    least = part.get("minItems", 0)
    wanted = chance.randint(least, min(part.get("maxItems", least + 3), least + 3))
    if groups := _dealt(part, defs, chance):
        return groups
    items: list[Any] = []
    for _ in range(wanted * 8):
        if len(items) == wanted:
            break
        item = _of(part["items"], defs, chance)
        if not part.get("uniqueItems") or item not in items:
            items.append(item)
    return items


def _dealt(part: Mapping[str, Any], defs: Mapping[str, Any], chance: random.Random) -> list[Any]:
    """Return objects that share out the names of a fixed list, each name in one of them; empty for another schema."""
    item = defs.get(part["items"].get("$ref", "").rpartition("/")[2], part["items"])
    lists = {
        name: member
        for name, member in item.get("properties", {}).items()
        if "enum" in member.get("items", {})
    }
    if not lists:
        return []
    [(name, member)] = lists.items()
    names = list(member["items"]["enum"])
    chance.shuffle(names)
    size = min(member.get("maxItems", 3), 3)
    groups = [names[start : start + size] for start in range(0, len(names), size)]
    return [_of(item, defs, chance) | {name: group} for group in groups]


def _string(part: Mapping[str, Any], _: Mapping[str, Any], chance: random.Random) -> str:
    if part.get("format") == "date":
        return f"{chance.randint(2000, 2030)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    if "pattern" in part:
        return _matching(part["pattern"], chance)
    return random_text(chance, part.get("minLength", 0), part.get("maxLength", 80))


def _matching(pattern: str, chance: random.Random) -> str:
    r"""Return a string that matches a pattern of literals, classes, \d and {n}."""
    said, rest = "", pattern.removeprefix("^").removesuffix("$")
    while rest:
        if rest.startswith("\\d"):
            drawn, rest = string.digits, rest[2:]
        elif rest[0] == "[" and "]" in rest:
            inner, _, rest = rest[1:].partition("]")
            drawn = "".join(
                letter for letter in string.ascii_lowercase + string.digits if _in_class(letter, inner)
            )
        else:
            drawn, rest = rest[0], rest[1:]
        times = "1"
        if rest.startswith("{"):
            times, _, rest = rest[1:].partition("}")
        if not drawn or rest[:1] in ("*", "+", "?", "|", "("):
            raise ValueError(f"the stub server cannot match the pattern {pattern}. Extend `_matching`.")
        said += "".join(chance.choice(drawn) for _ in range(int(times.partition(",")[0])))
    return said


def _in_class(letter: str, inner: str) -> bool:
    ranges = [inner[at - 1] + inner[at + 1] for at in range(1, len(inner) - 1) if inner[at] == "-"]
    return letter in inner or any(ends[0] <= letter <= ends[1] for ends in ranges)


def _integer(part: Mapping[str, Any], _: Mapping[str, Any], chance: random.Random) -> int:
    least = part.get("minimum", part.get("exclusiveMinimum", -1) + 1)
    most = part.get("maximum", part.get("exclusiveMaximum", least + 101) - 1)
    return chance.randint(least, most)


def _number(part: Mapping[str, Any], _: Mapping[str, Any], chance: random.Random) -> float:
    least = part.get("minimum", part.get("exclusiveMinimum", 0))
    most = part.get("maximum", part.get("exclusiveMaximum", least + 100))
    return least + (most - least) * chance.uniform(0.001, 0.999)


_GENERATORS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], random.Random], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda part, defs, chance: chance.random() < 0.5,
    "null": lambda part, defs, chance: None,
}
