"""Annotation sheets (samples of items for annotators), and their keys (the correct labels).

A sheet is a JSON Lines file: a header with a digest of the content, then one unit per line. A unit is a text (a
message, a session, a question) with the items to label. The key is a separate file.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field, StringConstraints, ValidationError

from memflow.benchmarks.models import StrictModel
from memflow.errors import BadInput, MissingData
from memflow.fingerprint import digest
from memflow.words import HAN

ITEMS, KEY, PAGE = "items.jsonl", "key.json", "annotate.html"
"""The files of a sheet's folder. Do not give the key to annotators."""

RIGHT, WRONG = "right", "wrong"
"""The categories of options of items with a key."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Id = Annotated[str, StringConstraints(min_length=1, max_length=300)]
ShortText = Annotated[str, StringConstraints(max_length=2_000)]
LongText = Annotated[str, StringConstraints(max_length=200_000)]
Model = TypeVar("Model", bound="StrictModel")


class Label(StrictModel):
    """A label that annotators can choose. `value` is the score, or null for an option, which the key scores."""

    name: Name
    says: LongText
    value: float | None = Field(None, ge=0, le=1)


class Part(StrictModel):
    """A titled passage of text that annotators read."""

    title: ShortText
    text: LongText


class Item(StrictModel):
    """An item to label: a question, the facts that the question refers to, and the possible labels.

    `aspect` is what the item asks about, where a sheet asks about several aspects, which are reported one by one.
    """

    id: Id
    aspect: Name | None = None
    asks: ShortText
    facts: list[Part] = Field(default_factory=list, max_length=12)
    labels: list[Label] = Field(min_length=2, max_length=40)


class Unit(StrictModel):
    """Passages to show together, and the items to label about them. `episode` is the unit of the bootstrap."""

    id: Id
    episode: Id
    language: Literal["en", "zh"] = "en"
    shown: list[Part] = Field(max_length=400)
    items: list[Item] = Field(min_length=1, max_length=400)


class Header(StrictModel):
    """The first line of an annotation sheet: the sampled population and the instructions for annotators."""

    format: Literal["memflow annotation items 1"] = "memflow annotation items 1"
    benchmark: ShortText
    kind: Name
    title: ShortText
    guide: LongText
    domain: ShortText
    assistant: ShortText | None = None
    seed: int
    units: ShortText
    drawn: int = Field(ge=0)
    population: int = Field(ge=0)
    keyed: bool = False
    note: ShortText | None = None
    digest: str = ""


class Key(StrictModel):
    """The correct labels of a sheet's items, by item id, with the digest of the sheet that they belong to."""

    items: str
    labels: dict[Id, Name]


class Sheet(StrictModel):
    """An annotation sheet: a header that contains the digest, and the units in order."""

    header: Header
    units: list[Unit]

    @property
    def digest(self) -> str:
        """The digest of the sheet's header and units."""
        return digest(self.header.model_copy(update={"digest": ""}), self.units)

    def by_aspect(self) -> "dict[str | None, Sheet]":
        """Return the sheet of each aspect's items alone, by aspect in order; None stands for items without one."""
        aspects = dict.fromkeys(item.aspect for item in self.items.values())
        return {aspect: self.model_copy(update={"units": self._units_of(aspect)}) for aspect in aspects}

    def _units_of(self, aspect: str | None) -> list[Unit]:
        return [
            unit.model_copy(update={"items": [item for item in unit.items if item.aspect == aspect]})
            for unit in self.units
        ]

    @property
    def items(self) -> dict[str, Item]:
        """The items by id, in order."""
        return {item.id: item for unit in self.units for item in unit.items}

    @property
    def episodes(self) -> dict[str, str]:
        """The episode of each item, by item id."""
        return {item.id: unit.episode for unit in self.units for item in unit.items}


def make_sheet(header: Header, units: Iterable[Unit]) -> Sheet:
    """Return the sheet of these units, with its digest in the header. Raises BadInput for a duplicate id."""
    sheet = Sheet(header=header, units=list(units))
    for what, names in (
        ("unit", [unit.id for unit in sheet.units]),
        ("item", [item.id for unit in sheet.units for item in unit.items]),
    ):
        if twice := next((name for name, count in Counter(names).items() if count > 1), None):
            raise BadInput(f"the id {twice!r} occurs twice among the {what}s of the sheet. Rename one.")
    return Sheet(header=header.model_copy(update={"digest": sheet.digest}), units=sheet.units)


def write_sheet(folder: Path, sheet: Sheet, key: Mapping[str, str]) -> list[Path]:
    """Write the sheet and its key, if any. Return the file paths. Raises BadInput if the folder contains a sheet."""
    items = folder / ITEMS
    if items.exists():
        raise BadInput(f"{items} already exists and may have annotations. Choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps(row.model_dump(mode="json"), ensure_ascii=False) for row in (sheet.header, *sheet.units)
    ]
    items.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not sheet.header.keyed:
        return [items]
    stored = Key(items=sheet.header.digest, labels={item: key[item] for item in sheet.items})
    (folder / KEY).write_text(f"{stored.model_dump_json()}\n", encoding="utf-8")
    return [items, folder / KEY]


def read_sheet(folder: Path) -> Sheet:
    """Return the annotation sheet in a folder. Raises BadInput with the line of the first error."""
    path = folder / ITEMS
    if not path.is_file():
        raise MissingData(f"{path} is missing. Write it with `memflow annotate sample`.")
    lines = read_lines(path)
    header = parse_line(path, 1, lines, Header)
    units = [parse_line(path, number, lines, Unit) for number in range(2, len(lines) + 1)]
    sheet = Sheet(header=header, units=units)
    if sheet.digest != header.digest:
        raise BadInput(
            f"{path} was modified: its content hash does not match. Sample a new sheet with `memflow "
            "annotate sample`."
        )
    return sheet


def read_key(folder: Path, sheet: Sheet) -> dict[str, str]:
    """Return the correct labels by item id; empty for a sheet without a key. Raises BadInput for an unusable key."""
    if not sheet.header.keyed:
        return {}
    path = folder / KEY
    if not path.is_file():
        raise MissingData(f"{path} is missing, so the labels cannot be scored. Restore the file.")
    key = parse_line(path, 1, read_lines(path), Key)
    if key.items != sheet.header.digest:
        raise BadInput(
            f"{path} is the key of a different sheet than {folder / ITEMS}. Restore the key that was "
            "written with this sheet."
        )
    return key.labels


def label_category(item: Item, label: str, key: Mapping[str, str]) -> str:
    """Return the category of a label for agreement metrics: `right` or `wrong` for an option, otherwise the label."""
    if _label(item, label).value is not None:
        return label
    return RIGHT if key.get(item.id) == label else WRONG


def label_score(item: Item, label: str, key: Mapping[str, str]) -> float:
    """Return the score of a label, from 0 to 1; the score of a correct option is 1."""
    own = _label(item, label).value
    return float(key.get(item.id) == label) if own is None else own


def label_categories(sheet: Sheet) -> list[str]:
    """Return the label categories that occur in a sheet, in the order of the labels."""
    found: dict[str, None] = {}
    for item in sheet.items.values():
        for label in item.labels:
            names = [label.name] if label.value is not None else [RIGHT, WRONG]
            found.update(dict.fromkeys(names))
    return list(found)


def language_of(text: str) -> Literal["en", "zh"]:
    """Return `zh` if at least a fifth of the letters are Chinese characters, otherwise `en`."""
    letters = [character for character in text if character.isalpha()]
    han = re.findall(f"[{HAN}]", text)
    return "zh" if letters and len(han) * 5 >= len(letters) else "en"


def read_lines(path: Path) -> list[str]:
    """Return the lines of a JSON Lines file as text. Raises BadInput if the file is empty or not UTF-8."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise BadInput(f"{path} is not UTF-8 (byte {wrong.start}). Save it as UTF-8.") from wrong
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise BadInput(f"{path} is empty. Restore the file, or write it again.")
    return lines


def parse_line(path: Path, number: int, lines: Sequence[str], shape: type[Model]) -> Model:
    """Return line `number` (from 1) as the Pydantic model `shape`. Raises BadInput with file, line and error."""
    try:
        return shape.model_validate_json(lines[number - 1])
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole line"
        raise BadInput(
            f"{path}, line {number}, {place}: {first['msg']}. Fix the line, or restore the file."
        ) from wrong


def _label(item: Item, name: str) -> Label:
    return next(label for label in item.labels if label.name == name)
