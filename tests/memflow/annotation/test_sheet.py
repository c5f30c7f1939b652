"""Files of sheets, keys and annotations: round trips, and errors that name the modified or invalid line."""

import json
from pathlib import Path

import pytest
from annotation_files import write_annotations

from memflow.annotation.annotations import Annotations, read_all, read_annotations
from memflow.annotation.sampling import Candidate, draw
from memflow.annotation.sheet import (
    Header,
    Item,
    Label,
    Part,
    Sheet,
    Unit,
    label_categories,
    label_category,
    label_score,
    language_of,
    make_sheet,
    read_key,
    read_sheet,
    write_sheet,
)
from memflow.errors import BadInput, MissingData

POINTS = [Label(name="full", says="Fully", value=1), Label(name="none", says="Not at all", value=0)]
OPTIONS = [
    Label(name="option_1", says="red"),
    Label(name="option_2", says="blue"),
    Label(name="untold", says="It cannot be told", value=0),
]


def header(**over) -> Header:
    given = {"kind": "exposure", "title": "T", "guide": "G", "domain": "d", "seed": 0, "units": "messages"}
    return Header(**{"benchmark": "amemgym", **given, "drawn": 1, "population": 2, **over})


def unit(name: str, episode: str = "ann", labels: list[Label] = POINTS, items: int = 1) -> Unit:
    asked = [Item(id=f"{name}#{number}", asks="?", labels=labels) for number in range(items)]
    return Unit(id=name, episode=episode, shown=[Part(title="t", text="x")], items=asked)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def keyed(tmp_path: Path) -> tuple[Path, Sheet]:
    sheet = make_sheet(header(keyed=True), [unit("a", labels=OPTIONS), unit("b", "bo", labels=OPTIONS)])
    write_sheet(tmp_path, sheet, {"a#0": "option_2", "b#0": "option_1"})
    return tmp_path, sheet


def test_sheet_key_and_annotations_are_equal_after_writing_and_reading(keyed) -> None:
    folder, sheet = keyed
    assert read_sheet(folder) == sheet
    assert read_key(folder, sheet) == {"a#0": "option_2", "b#0": "option_1"}
    with pytest.raises(BadInput, match="Choose another folder"):
        write_sheet(folder, sheet, {})
    with pytest.raises(BadInput, match="the id 'a' occurs twice among the units"):
        make_sheet(header(), [unit("a"), unit("a")])
    made = Annotations("李雷", {"b#0": "untold", "a#0": "option_1"}, {"a#0": "不太确定\n\u2028"})
    write_annotations(folder / "annotations-x.jsonl", sheet, made)
    assert read_annotations(folder / "annotations-x.jsonl", sheet) == made


def test_answer_key_determines_categories_and_scores_of_labels(keyed) -> None:
    folder, sheet = keyed
    key, item = read_key(folder, sheet), sheet.items["a#0"]
    assert [label_category(item, name, key) for name in ("option_1", "option_2", "untold")] == [
        "wrong",
        "right",
        "untold",
    ]
    assert [label_score(item, name, key) for name in ("option_1", "option_2", "untold")] == [0, 1, 0]
    assert label_categories(sheet) == ["right", "wrong", "untold"]
    assert label_categories(make_sheet(header(), [unit("a")])) == ["full", "none"]


def test_read_sheet_rejects_a_modified_item_file(keyed) -> None:
    folder, _ = keyed
    change(folder / "items.jsonl", '"text": "x"', '"text": "y"')
    with pytest.raises(BadInput, match=r"items.jsonl was modified"):
        read_sheet(folder)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"episode": "bo"', '"episode": 3', r"items.jsonl, line 3, episode: "),
        ('"episode": "bo", ', "", r"line 3, episode: Field required"),
        ('"shown"', '"script": "x", "shown"', r"line 2, script: Extra inputs"),
        ('{"id": "b"', "{", r"line 3, the whole line: Invalid JSON"),
        ("memflow annotation items 1", "other", r"line 1, format: "),
    ],
)
def test_read_sheet_names_the_line_of_an_invalid_item(keyed, old, new, told) -> None:
    folder, _ = keyed
    change(folder / "items.jsonl", old, new)
    with pytest.raises(BadInput, match=told):
        read_sheet(folder)


def test_read_key_rejects_an_invalid_missing_or_unrelated_key_file(keyed) -> None:
    folder, sheet = keyed
    other = make_sheet(header(keyed=True, seed=1), sheet.units)
    with pytest.raises(BadInput, match="the key of a different sheet"):
        read_key(folder, other)
    change(folder / "key.json", "option_2", "none of the labels")
    with pytest.raises(BadInput, match=r"key.json, line 1, labels.a#0"):
        read_key(folder, sheet)
    (folder / "key.json").unlink()
    with pytest.raises(MissingData, match=r"key.json is missing"):
        read_key(folder, sheet)


HEAD = {"format": "memflow annotations 1", "annotator": "Ann"}


@pytest.mark.parametrize(
    ("head", "rows", "told"),
    [
        ({"items": "0" * 32}, [], "line 1: the sheet digest `items` is '0000"),
        ({"annotator": "  "}, [], "line 1, annotator: "),
        ({}, [{"item": "z#0", "label": "untold"}], "line 2: the item 'z#0' is not in this folder's sheet"),
        (
            {},
            [{"item": "a#0", "label": "full"}],
            "line 2: 'full' is not a label of the item 'a#0'. Use one of: option_1,",
        ),
        ({}, [{"item": "a#0", "label": None}], "line 2, label: "),
        ({}, [{"item": "a#0", "label": "untold"}] * 2, "line 3: the item 'a#0' already has a label"),
        ({}, [{"item": "a#0", "label": "untold", "score": 1}], "line 2, score: Extra inputs"),
    ],
)
def test_read_annotations_names_the_line_of_an_invalid_annotation(keyed, head, rows, told) -> None:
    folder, sheet = keyed
    path = folder / "annotations-ann.jsonl"
    lines = [{**HEAD, "items": sheet.header.digest, **head}, *rows]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(BadInput, match=f"annotations-ann.jsonl, {told}"):
        read_annotations(path, sheet)


def test_read_all_rejects_a_second_file_of_the_same_annotator(keyed) -> None:
    folder, sheet = keyed
    for name in ("annotations-ann.jsonl", "annotations-ann (1).jsonl"):
        write_annotations(folder / name, sheet, Annotations("Ann", {"a#0": "untold"}))
    with pytest.raises(
        BadInput, match=r"the annotator Ann has a second file for this sheet, annotations-ann \(1\).jsonl"
    ):
        read_all(folder, sheet)


def test_read_annotations_rejects_empty_and_non_utf8_files(keyed) -> None:
    folder, sheet = keyed
    path = folder / "annotations.jsonl"
    path.write_bytes(b"\n \n")
    with pytest.raises(BadInput, match="is empty"):
        read_annotations(path, sheet)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match=r"is not UTF-8 \(byte 0\)"):
        read_annotations(path, sheet)


def candidates(sizes: dict[str, int]) -> list[Candidate]:
    return [
        Candidate(unit(f"{episode}/{number}", episode))
        for episode, size in sizes.items()
        for number in range(size)
    ]


def test_annotation_sample_is_balanced_over_episodes():
    sheet, _ = draw(header(), candidates({"a": 50, "b": 50, "c": 2}), 12)
    drawn = [unit.episode for unit in sheet.units]
    assert [drawn.count(name) for name in "abc"] == [5, 5, 2]
    assert drawn != sorted(drawn)
    assert (sheet.header.drawn, sheet.header.population) == (12, 102)


def test_annotation_sample_depends_on_the_seed_and_the_number_of_candidates():
    there = candidates({"a": 50, "b": 50})
    first, _ = draw(header(), there, 10)
    assert draw(header(), there[::-1], 10)[0] == first
    assert draw(header(seed=1), there, 10)[0].units != first.units
    assert draw(header(), candidates({"a": 3}), 10)[0].header.drawn == 3
    with pytest.raises(BadInput, match="d has no messages, so no sheet of exposure"):
        draw(header(), [], 10)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我只有周末有空。", "zh"),
        ("My weekends are free.", "en"),
        ("I like 茶 in the morning.", "en"),
        ("12", "en"),
        ("请用 Python 写一个脚本，处理 CSV 文件。", "zh"),
    ],
)
def test_language_of_returns_zh_only_for_text_with_enough_chinese_letters(text, language) -> None:
    assert language_of(text) == language
