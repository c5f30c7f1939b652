"""Damaged files: each problem names the file, the line or row, and the field."""

import json
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.dialogues.inspection import inspect_files

MESSAGES = [
    {"id": "m1", "text": "I live in Oslo.", "time": "2024-03-01"},
    {"id": "m2", "text": "I live in Rome.", "time": "2024-03-05"},
]
QUESTION = {"question": "Where does she live?", "gold": "Rome"}


def dialogue(**changes: Any) -> bytes:
    """Return a line with a valid dialogue and the changes; a field changed to `...` is removed."""
    row = {"id": "ana", "messages": MESSAGES, "questions": [QUESTION], **changes}
    return json.dumps({name: value for name, value in row.items() if value is not ...}).encode()


def question(**changes: Any) -> bytes:
    """Return a line whose first question is valid and whose second question has the changes."""
    row = {**QUESTION, **changes}
    return dialogue(questions=[QUESTION, {name: value for name, value in row.items() if value is not ...}])


def message(**changes: Any) -> bytes:
    """Return a line whose third message has the changes."""
    row = {"text": "I like it.", **changes}
    return dialogue(messages=[*MESSAGES, {name: value for name, value in row.items() if value is not ...}])


OPTIONS = ["Rome", "Oslo", "Bonn"]
Changes = dict[str, Any]
QUESTIONS: list[tuple[Changes, str, str]] = [
    # changes of a question, the field that the message names, part of the message
    (
        {"options": ["B", "A", "AB"], "gold": "A"},
        "gold",
        "is the text of option 2 and the letter of option 1; reword",
    ),
    ({"options": "Rome", "gold": 1}, "options", "'Rome' is not a list; write it in square brackets"),
    ({"slices": ["travel"]}, "slices", "is not a JSON object; write it in braces"),
    ({"gold": ...}, "gold", "the question has no gold"),
    ({"abstain": True}, "gold", "remove one of the two"),
    ({"options": OPTIONS, "gold": ...}, "gold", "options but no gold"),
    ({"options": OPTIONS, "gold": 0}, "gold", "1 to 3"),
    ({"options": OPTIONS, "gold": "Bern"}, "gold", "'Bern'"),
    ({"options": ["3", "1", "2"], "gold": 3}, "gold", "reword the options"),
    ({"options": OPTIONS, "gold": [1, 2]}, "gold", "several golds"),
    ({"options": [f"o{n}" for n in range(11)]}, "options", "give 2 to 10"),
    ({"options": ["Rome", " Rome", "Oslo"]}, "options", "occurs twice"),
    ({"options": OPTIONS, "gold": ..., "abstain": True}, "options", "no option states"),
    ({"evidence": ["m9"]}, "evidence", "no message 'm9'"),
    ({"after": "m1", "evidence": ["m2"]}, "evidence", "comes after"),
    ({"after": "m7"}, "after", "no message 'm7'"),
    ({"after": "m1", "date": "2024-03-01"}, "date", "keep one"),
    ({"date": "2023-03-01"}, "date", "before the first message"),
    ({"metric": "bleu"}, "metric", "'bleu' is not allowed"),
    ({"options": OPTIONS, "metric": "f1"}, "metric", "use accuracy"),
    ({"slices": {"kind": "x"}}, "slices", "is reserved"),
]
MESSAGE_ROWS: list[tuple[Changes, str, str]] = [
    ({"text": " "}, "text", "the text is blank"),
    ({"role": "system"}, "role", "use user or assistant"),
    ({"time": "3/1/2024"}, "time", "2024-03-31"),
    ({"time": "2023-01-01"}, "time", "before the time of an earlier"),
    ({"id": "m1"}, "id", "'m1' occurs twice"),
]
FILES: list[tuple[str, bytes, str, str]] = [
    # file name, content, place, part of the message
    ("a.jsonl", b" \n", "line 1", "the file is empty"),
    ("a.txt", b"hello", "the file", "convert it to one of: .jsonl, .csv"),
    ("a.jsonl", dialogue() + b"\n" + dialogue()[:40], "line 2", "truncated or invalid JSON"),
    ("a.jsonl", b'{"id": "a", "id": "b", "messages": []}', "line 1", "'id' occurs twice"),
    ("a.jsonl", dialogue() + b'\n{"id": "\xff"}', "line 2", "is not UTF-8"),
    ("a.jsonl", b'{"id": "a", "mesages": []}', "line 1, mesages", "Did you mean messages?"),
    ("a.jsonl", dialogue(id=...), "line 1, id", "the field is missing"),
    ("a.jsonl", dialogue(id="a/b"), "line 1, id", "contains `/`"),
    ("a.jsonl", b'{"id": "a", "messages": ' + b"[" * 100000, "line 1", "invalid JSON"),
    ("a.jsonl", dialogue() + b"\n" + dialogue(), "line 2, id", "occurs twice (first at"),
    ("a.jsonl", dialogue(messages=[], questions=[]), "line 1, messages", "has no messages"),
    (
        "a.jsonl",
        dialogue(messages=[{"text": "Hi."}], questions=[{**QUESTION, "date": "2024-03-01"}]),
        "line 1, question 1, date",
        "no message of the dialogue has a time",
    ),
    (
        "a.jsonl",
        dialogue(questions=[{**QUESTION, "id": "q"}, {**QUESTION, "id": "q"}]),
        "line 1, question 2 (q), id",
        "occurs twice",
    ),
    ("a.csv", b"a,b\n1,2\n", "line 1", "no column tells"),
    ("a.csv", b"dialogue,text,speeker\n1,hi,Ana\n", "line 1, speeker", "Did you mean speaker?"),
    ("a.csv", b"text\nhi\n", "line 1, dialogue", "lacks the column"),
    ("a.csv", b"dialogue,id,text\n1,m1,hi\n1,m2\n", "line 3", "2 fields, but the header has 3"),
    ("a.csv", b'dialogue,text\n1,"hi\n', "line 2", "invalid CSV"),
    ("a.csv", b'dialogue,text,time\n1,"a\nb",2024-01-01\n1,b,1.3.24\n', "line 4, time", "not a date"),
    ("a.csv", b"dialogue,question,gold\nx,who?,me\n", "line 2, dialogue", "no dialogue 'x'"),
    ("a.csv", b"dialogue,question,abstain\nx,who?,perhaps\n", "line 2, abstain", "neither true nor false"),
]
DAMAGED = [
    *(("a.jsonl", question(**row), f"line 1, question 2, {field}", text) for row, field, text in QUESTIONS),
    *(("a.jsonl", message(**row), f"line 1, message 3, {field}", text) for row, field, text in MESSAGE_ROWS),
    *FILES,
]


@pytest.mark.parametrize(("file", "content", "place", "text"), DAMAGED)
def test_damaged_file_gives_a_message_with_line_and_field(
    file: str, content: bytes, place: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_bytes(content)
    found = inspect_files([tmp_path / file]).problems
    assert any(each.place == place and text in each.text for each in found), list(map(str, found))
    assert all(str(each).startswith(f"{tmp_path / file}, ") for each in found)


def test_all_problems_of_a_file_are_found(tmp_path: Path) -> None:
    lines = [dialogue(id=...), message(text=""), b"{", question(gold=...).replace(b'"ana"', b'"ben"')]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    places = [each.place for each in inspect_files([tmp_path / "a.jsonl"]).problems]
    assert places == ["line 1, id", "line 2, message 3, text", "line 3", "line 4, question 2, gold"]
