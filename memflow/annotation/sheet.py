"""A sheet: the items of one sample, as annotators see them, and the key that they do not see.

A sheet is a JSON Lines file: a header, then a unit a line. A unit is what is shown together (a message, a session, a
question) with the items asked about it; an item has an id, what is asked, and the labels that may answer it. The
header's digest covers all of it, so that annotations can say which sheet they are of. Where items have right answers,
these lie in a file of their own, the key, which the annotation page never holds.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from memflow.errors import BadInput, MissingData
from memflow.fingerprint import digest
from memflow.words import HAN

ITEMS, KEY, PAGE = "items.jsonl", "key.jsonl", "annotate.html"
"""The files of a sheet's folder. The page is handed to annotators; the key is not."""

RIGHT, WRONG = "right", "wrong"
"""What an option of an item with a key counts as."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Id = Annotated[str, StringConstraints(min_length=1, max_length=300)]
ShortText = Annotated[str, StringConstraints(max_length=2_000)]
LongText = Annotated[str, StringConstraints(max_length=200_000)]
Model = TypeVar("Model", bound="StrictModel")


class StrictModel(BaseModel):
    """A part of a file: bounded, and with no other fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Label(StrictModel):
    """One answer that an item allows. `value` is its score; null for an option, which the key scores."""

    name: Name
    says: LongText
    value: float | None = Field(None, ge=0, le=1)


class Part(StrictModel):
    """One passage that is shown, under its title."""

    title: ShortText
    text: LongText


class Item(StrictModel):
    """One judgement that is asked for: the question, the facts that it is about, the labels that may answer it."""

    id: Id
    asks: ShortText
    facts: list[Part] = Field(default_factory=list, max_length=12)
    labels: list[Label] = Field(min_length=2, max_length=40)


class Unit(StrictModel):
    """What is shown together, and the items asked about it. The bootstrap draws episodes."""

    id: Id
    episode: Id
    language: Literal["en", "zh"] = "en"
    shown: list[Part] = Field(max_length=400)
    items: list[Item] = Field(min_length=1, max_length=400)


class Header(StrictModel):
    """What a sheet is a sample of, and what its annotators are told."""

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


class CorrectLabel(StrictModel):
    """The right label of one item."""

    item: Id
    label: Name


class KeyHeader(StrictModel):
    """Which sheet a key is of."""

    format: Literal["memflow annotation key 1"] = "memflow annotation key 1"
    items: str
    digest: str = ""


class Sheet(StrictModel):
    """A header with its digest filled in, and the units in the order that they are shown in."""

    header: Header
    units: list[Unit]

    @property
    def digest(self) -> str:
        """Digest of all that an annotator is shown, and of what it was drawn from."""
        return digest(self.header.model_copy(update={"digest": ""}), self.units)

    @property
    def items(self) -> dict[str, Item]:
        """Item by id, in order."""
        return {item.id: item for unit in self.units for item in unit.items}

    @property
    def episodes(self) -> dict[str, str]:
        """The episode of each item."""
        return {item.id: unit.episode for unit in self.units for item in unit.items}


def make_sheet(header: Header, units: Iterable[Unit]) -> Sheet:
    """A sheet with its digest in the header. Raises BadInput for an id that stands there twice."""
    sheet = Sheet(header=header, units=list(units))
    for what, names in (
        ("unit", [unit.id for unit in sheet.units]),
        ("item", [item.id for unit in sheet.units for item in unit.items]),
    ):
        if twice := _first_duplicate(names):
            raise BadInput(f"the {what} {twice!r} stands there twice")
    return Sheet(header=header.model_copy(update={"digest": sheet.digest}), units=sheet.units)


def write_sheet(folder: Path, sheet: Sheet, key: Mapping[str, str]) -> list[Path]:
    """Write the sheet, and its key where it has one. Raises BadInput where the folder holds a sheet already."""
    items = folder / ITEMS
    if items.exists():
        raise BadInput(f"{items} is there already, and annotations may belong to it: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    _write(items, [sheet.header, *sheet.units])
    if not sheet.header.keyed:
        return [items]
    golds = [CorrectLabel(item=item, label=key[item]) for item in sheet.items]
    head = KeyHeader(items=sheet.header.digest)
    _write(folder / KEY, [head.model_copy(update={"digest": digest(head, golds)}), *golds])
    return [items, folder / KEY]


def read_sheet(folder: Path) -> Sheet:
    """The sheet of a folder. Raises BadInput naming the place, and what is wrong there."""
    path = folder / ITEMS
    if not path.is_file():
        raise MissingData(f"{path} is not there: `memflow annotate sample` writes one")
    lines = read_lines(path)
    header = parse_line(path, 1, lines, Header)
    units = [parse_line(path, number, lines, Unit) for number in range(2, len(lines) + 1)]
    sheet = Sheet(header=header, units=units)
    if sheet.digest != header.digest:
        raise BadInput(
            f"{path}: it was changed since it was written (its digest no longer fits): sample anew"
        )
    return sheet


def read_key(folder: Path, sheet: Sheet) -> dict[str, str]:
    """The right label of every item; empty where the sheet has none. Raises BadInput naming the place."""
    if not sheet.header.keyed:
        return {}
    path = folder / KEY
    if not path.is_file():
        raise MissingData(f"{path} is not there: without it nobody can say which labels are right")
    lines = read_lines(path)
    header = parse_line(path, 1, lines, KeyHeader)
    if header.items != sheet.header.digest:
        raise BadInput(f"{path}: it is the key of another sheet than {folder / ITEMS}")
    golds = [parse_line(path, number, lines, CorrectLabel) for number in range(2, len(lines) + 1)]
    if digest(header.model_copy(update={"digest": ""}), golds) != header.digest:
        raise BadInput(f"{path}: it was changed since it was written (its digest no longer fits)")
    return {gold.item: gold.label for gold in golds}


def label_category(item: Item, label: str, key: Mapping[str, str]) -> str:
    """What a label counts as when raters are compared: itself; for an option right or wrong, as the key says."""
    if _label(item, label).value is not None:
        return label
    return RIGHT if key.get(item.id) == label else WRONG


def label_score(item: Item, label: str, key: Mapping[str, str]) -> float:
    """The score of a label, from 0 to 1; for an option 1 where it is right."""
    own = _label(item, label).value
    return float(key.get(item.id) == label) if own is None else own


def label_categories(sheet: Sheet) -> list[str]:
    """Every category that some item allows, in the order of the labels."""
    found: dict[str, None] = {}
    for item in sheet.items.values():
        for label in item.labels:
            names = [label.name] if label.value is not None else [RIGHT, WRONG]
            found.update(dict.fromkeys(names))
    return list(found)


def language_of(text: str) -> Literal["en", "zh"]:
    """Chinese where a fifth of the letters are Chinese characters: they carry more each than Latin ones."""
    letters = [character for character in text if character.isalpha()]
    han = re.findall(f"[{HAN}]", text)
    return "zh" if letters and len(han) * 5 >= len(letters) else "en"


def read_lines(path: Path) -> list[str]:
    """The lines of a JSON Lines file. Raises BadInput where it is empty, or not UTF-8."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise BadInput(f"{path}: it is not UTF-8 (byte {wrong.start})") from wrong
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise BadInput(f"{path}: it is empty")
    return lines


def parse_line(path: Path, number: int, lines: Sequence[str], shape: type[Model]) -> Model:
    """Line `number` (from 1) as `shape`. Raises BadInput naming file, line and fault."""
    try:
        return shape.model_validate(json.loads(lines[number - 1]))
    except json.JSONDecodeError as wrong:
        raise BadInput(f"{path}, line {number}: it is not JSON ({wrong.msg})") from wrong
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise BadInput(f"{path}, line {number}, {place}: {first['msg']}") from wrong


def _label(item: Item, name: str) -> Label:
    return next(label for label in item.labels if label.name == name)


def _first_duplicate(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _write(path: Path, rows: Sequence[BaseModel]) -> None:
    def line(row: BaseModel) -> str:
        content: dict[str, Any] = row.model_dump(mode="json")
        return json.dumps(content, ensure_ascii=False) + "\n"

    path.write_text("".join(map(line, rows)), encoding="utf-8")
