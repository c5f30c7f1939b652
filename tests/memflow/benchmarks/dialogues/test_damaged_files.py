"""Damaged files: each problem names the file, the line or row, and the field."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
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


def parquet(**columns: list[Any]) -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written)
    return written.getvalue()


OPTIONS = ["Rome", "Oslo", "Bonn"]
DAMAGED: dict[str, tuple[str, bytes, str, str]] = {
    # name: (file name, content, place, part of the message)
    "empty_file": ("a.jsonl", b" \n", "line 1", "the file is empty"),
    "unknown_ending": ("a.txt", b"hello", "the file", "use one of: .jsonl, .csv, .parquet"),
    "truncated_line": (
        "a.jsonl",
        dialogue() + b"\n" + dialogue()[:40],
        "line 2",
        "truncated or invalid JSON",
    ),
    "field_twice": ("a.jsonl", b'{"id": "a", "id": "b", "messages": []}', "line 1", "'id' occurs twice"),
    "not_utf8": ("a.jsonl", dialogue() + b'\n{"id": "\xff"}', "line 2", "is not UTF-8"),
    "gold_is_a_text_and_the_letter_of_another_option": (
        "a.jsonl",
        question(options=["B", "A", "AB"], gold="A"),
        "line 1, question 2, gold",
        "is the text of option 2 and the letter of option 1; reword",
    ),
    "options_as_text": (
        "a.jsonl",
        question(options="Rome", gold=1),
        "line 1, question 2, options",
        "'Rome' is not a list; write it in square brackets",
    ),
    "slices_as_list": (
        "a.jsonl",
        question(slices=["travel"]),
        "line 1, question 2, slices",
        "is not a JSON object; write it in braces",
    ),
    "misspelled_messages": (
        "a.jsonl",
        b'{"id": "a", "mesages": []}',
        "line 1, mesages",
        "Did you mean messages?",
    ),
    "no_id": ("a.jsonl", dialogue(id=...), "line 1, id", "the field is missing"),
    "id_with_slash": ("a.jsonl", dialogue(id="a/b"), "line 1, id", "contains `/`"),
    "deep_nesting": ("a.jsonl", b'{"id": "a", "messages": ' + b"[" * 100_000, "line 1", "invalid JSON"),
    "duplicate_dialogue": (
        "a.jsonl",
        dialogue() + b"\n" + dialogue(),
        "line 2, id",
        "occurs twice (first at",
    ),
    "no_messages": ("a.jsonl", dialogue(messages=[], questions=[]), "line 1, messages", "has no messages"),
    "blank_text": ("a.jsonl", message(text=" "), "line 1, message 3, text", "the text is blank"),
    "unknown_role": ("a.jsonl", message(role="system"), "line 1, message 3, role", "use user or assistant"),
    "wrong_date": ("a.jsonl", message(time="3/1/2024"), "line 1, message 3, time", "2024-03-31"),
    "time_backwards": (
        "a.jsonl",
        message(time="2023-01-01"),
        "line 1, message 3, time",
        "before the time of an earlier",
    ),
    "duplicate_message": ("a.jsonl", message(id="m1"), "line 1, message 3, id", "'m1' occurs twice"),
    "no_gold": ("a.jsonl", question(gold=...), "line 1, question 2, gold", "the question has no gold"),
    "gold_and_abstain": (
        "a.jsonl",
        question(abstain=True),
        "line 1, question 2, gold",
        "remove one of the two",
    ),
    "options_without_gold": (
        "a.jsonl",
        question(options=OPTIONS, gold=...),
        "line 1, question 2, gold",
        "options but no gold",
    ),
    "gold_0": ("a.jsonl", question(options=OPTIONS, gold=0), "line 1, question 2, gold", "1 to 3"),
    "gold_no_option": (
        "a.jsonl",
        question(options=OPTIONS, gold="Bern"),
        "line 1, question 2, gold",
        "'Bern'",
    ),
    "gold_ambiguous": (
        "a.jsonl",
        question(options=["3", "1", "2"], gold=3),
        "line 1, question 2, gold",
        "reword the options",
    ),
    "two_golds": (
        "a.jsonl",
        question(options=OPTIONS, gold=[1, 2]),
        "line 1, question 2, gold",
        "several golds",
    ),
    "eleven_options": (
        "a.jsonl",
        question(options=[f"o{n}" for n in range(11)]),
        "line 1, question 2, options",
        "give 2 to 10",
    ),
    "equal_options": (
        "a.jsonl",
        question(options=["Rome", " Rome", "Oslo"]),
        "line 1, question 2, options",
        "occurs twice",
    ),
    "abstain_without_option": (
        "a.jsonl",
        question(options=OPTIONS, gold=..., abstain=True),
        "line 1, question 2, options",
        "no option states",
    ),
    "evidence_missing": (
        "a.jsonl",
        question(evidence=["m9"]),
        "line 1, question 2, evidence",
        "no message 'm9'",
    ),
    "evidence_later": (
        "a.jsonl",
        question(after="m1", evidence=["m2"]),
        "line 1, question 2, evidence",
        "comes after",
    ),
    "after_missing": ("a.jsonl", question(after="m7"), "line 1, question 2, after", "no message 'm7'"),
    "after_and_date": (
        "a.jsonl",
        question(after="m1", date="2024-03-01"),
        "line 1, question 2, date",
        "keep one",
    ),
    "date_too_early": (
        "a.jsonl",
        question(date="2023-03-01"),
        "line 1, question 2, date",
        "before the first message",
    ),
    "date_without_times": (
        "a.jsonl",
        dialogue(messages=[{"text": "Hi."}], questions=[{**QUESTION, "date": "2024-03-01"}]),
        "line 1, question 1, date",
        "no message of the dialogue has a time",
    ),
    "unknown_metric": (
        "a.jsonl",
        question(metric="bleu"),
        "line 1, question 2, metric",
        "'bleu' is not allowed",
    ),
    "metric_of_choice": (
        "a.jsonl",
        question(options=OPTIONS, metric="f1"),
        "line 1, question 2, metric",
        "use accuracy",
    ),
    "duplicate_question": (
        "a.jsonl",
        dialogue(questions=[{**QUESTION, "id": "q"}, {**QUESTION, "id": "q"}]),
        "line 1, question 2 (q), id",
        "occurs twice",
    ),
    "slice_reserved": (
        "a.jsonl",
        question(slices={"kind": "x"}),
        "line 1, question 2, slices",
        "is reserved",
    ),
    "csv_without_known_column": ("a.csv", b"a,b\n1,2\n", "line 1", "no column tells"),
    "csv_unknown_column": (
        "a.csv",
        b"dialogue,text,speeker\n1,hi,Ana\n",
        "line 1, speeker",
        "Did you mean speaker?",
    ),
    "csv_missing_column": ("a.csv", b"text\nhi\n", "line 1, dialogue", "lacks the column"),
    "csv_cell_missing": (
        "a.csv",
        b"dialogue,id,text\n1,m1,hi\n1,m2\n",
        "line 3",
        "2 cells, but the header has 3",
    ),
    "csv_open_quote": ("a.csv", b'dialogue,text\n1,"hi\n', "line 2", "invalid CSV"),
    "csv_wrong_date": (
        "a.csv",
        b'dialogue,text,time\n1,"a\nb",2024-01-01\n1,b,1.3.24\n',
        "line 4, time",
        "not a date",
    ),
    "csv_question_alone": (
        "a.csv",
        b"dialogue,question,gold\nx,who?,me\n",
        "line 2, dialogue",
        "no dialogue 'x'",
    ),
    "csv_wrong_boolean": (
        "a.csv",
        b"dialogue,question,abstain\nx,who?,perhaps\n",
        "line 2, abstain",
        "neither true nor false",
    ),
    "parquet_truncated": ("a.parquet", parquet(dialogue=["x"], text=["hi"])[:50], "the file", "not Parquet"),
    "parquet_gap": (
        "a.parquet",
        parquet(dialogue=["x", "x"], text=["hi", None]),
        "row 2, text",
        "the field is missing",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_file_gives_a_message_with_line_and_field(name: str, tmp_path: Path) -> None:
    file, content, place, text = DAMAGED[name]
    (tmp_path / file).write_bytes(content)
    found = inspect_files([tmp_path / file]).problems
    assert any(each.place == place and text in each.text for each in found), list(map(str, found))
    assert all(str(each).startswith(f"{tmp_path / file}, ") for each in found)


def test_all_problems_of_a_file_are_found(tmp_path: Path) -> None:
    lines = [dialogue(id=...), message(text=""), b"{", question(gold=...).replace(b'"ana"', b'"ben"')]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    places = [each.place for each in inspect_files([tmp_path / "a.jsonl"]).problems]
    assert places == ["line 1, id", "line 2, message 3, text", "line 3", "line 4, question 2, gold"]
