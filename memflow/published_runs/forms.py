"""Forms of files with published answers, as data: forms.yaml says where the rows are and which field is what.

A path names fields with dots. In it `[]` are all items of a list, `*` all values of an object, and `<choice>` is the
choice (the cutoff); `|` separates alternatives. `^name` is a field of an object around the row, `@0` the first key that
the path of the rows passed by `*`, `@` all these keys, `@file` the name of the file, and `@row` the number of the row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.packaged import load_yaml
from memflow.published_runs.rows import DeclaredRun


class Missing:
    """The value of a path that a row does not have."""

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


class Form(BaseModel):
    """The form of a file. Each text is a path, and each mapping names paths, unless stated otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    """What publishes such files, in words."""
    benchmark: str
    contract: str = ""
    """The judge's prompt that such files use unless a declared run says otherwise."""
    rows: str
    marks: tuple[str, ...]
    """The fields by which a row of this form is recognized."""
    id: str = ""
    pattern: str = ""
    """A regular expression with the groups `conversation` and `question` for the id; without it, the id is as is."""
    conversation: str = ""
    number: str = ""
    """The position of the question in its conversation. Without it and `pattern`, rows are in the published order."""
    counts_from: int = 0
    """The number of the first conversation, where conversations are numbered."""
    order: bool = True
    """Whether the rows of a conversation are in the published order; otherwise `placed` finds their positions."""
    question: str = ""
    answer: str = ""
    gold: str = ""
    category: str = ""
    categories: Mapping[str, int] = {}
    """The benchmark's integer for each name of a category in the file."""
    label: str = ""
    labels: Mapping[str, float] = {}
    """The values of labels that are spelled in the form's own way."""
    votes: str = ""
    rubric: str = ""
    metrics: Mapping[str, str] = {}
    texts: str = ""
    split: str = ""
    """A regular expression before each item of a context that is a single text."""
    messages: str = ""
    sessions: str = ""
    evidence: str = ""
    retrieved: str = ""
    seconds: Mapping[str, str] = {}
    """Fields whose name ends in `ms` are converted."""
    tokens: Mapping[str, str] = {}
    choice: str = ""
    """The path of the cutoffs or systems, of which one is read."""
    header: Mapping[str, str] = {}
    """Paths from the top of the file to its settings."""
    judges: str = ""
    """The judge of each label."""
    blocks: Mapping[str, Any] = {}
    """The fields of a companion file with blocks of messages, if the retrieved ids are of such blocks (blocks.py)."""


@cache
def forms() -> Mapping[str, Form]:
    """Return all known forms by name."""
    declared = load_yaml(__package__, "forms.yaml")
    merged = {name: {**declared.get(form.pop("like", ""), {}), **form} for name, form in declared.items()}
    return {name: Form(name=name, **form) for name, form in merged.items()}


@cache
def declared_runs() -> tuple[DeclaredRun, ...]:
    """Return the published runs that runs.yaml declares."""
    return tuple(
        DeclaredRun(**{name: value for name, value in {**group, **run}.items() if name != "runs"})
        for group in load_yaml(__package__, "runs.yaml")
        for run in group["runs"]
    )


@dataclass(frozen=True)
class RawRow:
    """A row of a file, the objects around it from the outside in, and the keys that the path passed."""

    content: Any
    around: Sequence[Mapping[str, Any]]
    keys: Sequence[str]
    place: str

    def value(self, path: str, choice: str | None = None) -> Any:
        """Return the value of a path, or MISSING. A path with `[]` or `*` has a list of values."""
        for alternative in path.split("|"):
            value = self._value(alternative, choice)
            if not isinstance(value, Missing):
                return value
        return MISSING

    def _value(self, path: str, choice: str | None) -> Any:
        if path.startswith("@"):
            if path in ("@file", "@row"):
                file, _, row = self.place.partition(", row ")
                return file if path == "@file" else int(row.rpartition(" ")[2])
            return self.keys[int(path[1:])] if path[1:] else "/".join(self.keys)
        steps = [(choice or "") if step == "<choice>" else step for step in path.removeprefix("^").split(".")]
        if not path.startswith("^"):
            return walk(self.content, steps)
        outer: Mapping[str, Any] = next((place for place in reversed(self.around) if steps[0] in place), {})
        return walk(outer, steps)


def walk(value: Any, steps: Sequence[str]) -> Any:
    """Return the value at the end of a path, or MISSING."""
    for number, step in enumerate(steps):
        if step in ("[]", "*"):
            items = list(value.values()) if isinstance(value, Mapping) and step == "*" else value
            if not isinstance(items, list):
                return MISSING
            values = [walk(item, steps[number + 1 :]) for item in items]
            return [item for item in values if not isinstance(item, Missing)]
        if not isinstance(value, Mapping) or step not in value:
            return MISSING
        value = value[step]
    return value


def raw_rows(data: Any, path: str, file: str) -> Iterator[RawRow]:
    """Yield the rows at a path of a file, such as `results.[].qa_results.[]`."""
    yield from _rows(data, path.split("."), (), (), f"{file}, row")


def _rows(
    value: Any, steps: Sequence[str], around: tuple[Mapping[str, Any], ...], keys: tuple[str, ...], place: str
) -> Iterator[RawRow]:
    if not steps:
        yield RawRow(value, around, keys, place)
        return
    around = (*around, value) if isinstance(value, Mapping) else around
    step, rest = steps[0], steps[1:]
    if step == "[]" and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _rows(item, rest, around, keys, f"{place} {number}")
    elif step == "*" and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _rows(item, rest, around, (*keys, str(key)), f"{place} {key}")
    elif isinstance(value, Mapping) and step in value:
        yield from _rows(value[step], rest, around, keys, place)
