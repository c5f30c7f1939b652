"""Files of equal rows in JSONL and CSV, and what editors and spreadsheets do to them."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.dialogues.content import OwnDialogue
from memflow.benchmarks.dialogues.dialogues import join_rows
from memflow.benchmarks.dialogues.files import read_rows
from memflow.benchmarks.dialogues.schema import LISTS, ROWS

ROWS_OF_FILES = yaml.safe_load((Path(__file__).parent / "rows.yaml").read_text(encoding="utf-8"))
MESSAGES, QUESTIONS = ROWS_OF_FILES["messages"], ROWS_OF_FILES["questions"]


def join(*files: tuple[str, str | bytes]) -> list[OwnDialogue]:
    """Return the dialogues of files without problems, given as names and contents; gold is the resolved one only."""
    rows = [
        row
        for name, content in files
        for row in read_rows(name, content.encode() if isinstance(content, str) else content)
    ]
    found, problems = join_rows("mine", rows)
    assert [str(each) for each in problems] == []
    return [
        replace(
            each,
            questions=tuple(
                replace(asked, fields=asked.fields.model_copy(update={"gold": None}))
                for asked in each.questions
            ),
        )
        for each in found
    ]


def to_jsonl(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def to_csv(rows: Sequence[dict[str, Any]], kind: str) -> str:
    def cell(name: str, value: Any) -> str:
        if name in LISTS and not (name == "gold" and str(value).strip()[:1] not in ("[", "{")):
            listed = value if isinstance(value, (list, dict)) else [value]
            return json.dumps(listed, ensure_ascii=False)
        return str(value)

    columns = [name for name in ROWS[kind].model_fields if any(name in row for row in rows)]
    written = io.StringIO(newline="")
    # A cell with a carriage return is quoted only if the line ending contains one.
    writer = csv.DictWriter(written, columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: cell(name, value) for name, value in row.items()} for row in rows)
    return written.getvalue()


@pytest.fixture(scope="module")
def expected() -> list[OwnDialogue]:
    found = join(("m.jsonl", to_jsonl(MESSAGES)), ("q.jsonl", to_jsonl(QUESTIONS)))
    assert [len(each.messages) for each in found] == [3, 1]
    assert [len(each.questions) for each in found] == [3, 2]
    return found


def test_equal_rows_in_csv_give_the_dialogues_of_jsonl(expected: list[OwnDialogue]) -> None:
    assert join(("m.csv", to_csv(MESSAGES, "message")), ("q.csv", to_csv(QUESTIONS, "question"))) == expected


def test_dialogue_per_line_gives_the_dialogues_of_two_tables(expected: list[OwnDialogue]) -> None:
    def of(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
        return [
            {key: value for key, value in row.items() if key != "dialogue"}
            for row in rows
            if row["dialogue"] == name
        ]

    lines = [
        {"id": name, "messages": of(MESSAGES, name), "questions": of(QUESTIONS, name)}
        for name in ("ana", "ben")
    ]
    assert join(("a.jsonl", to_jsonl(lines))) == expected
    plain = to_jsonl([{**line, "questions": []} for line in lines])
    assert join(("a.jsonl", plain), ("q.csv", to_csv(QUESTIONS, "question"))) == expected


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_byte_order_mark_and_line_endings_change_nothing(mark: str, ending: str) -> None:
    line = to_jsonl([{"id": "a", "messages": [{"text": "Hi."}]}]).replace("\n", ending)
    table = "dialogue,text\na,Hi.\n\n".replace("\n", ending)
    assert join(("a.jsonl", mark + line)) == join(("a.csv", mark + table)) == join(("a.jsonl", line))


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_semicolons_and_tabs_delimit_the_cells_of_a_csv_file(delimiter: str) -> None:
    table = "dialogue,text,speaker\na,Hi.,Ana\n".replace(",", delimiter)
    [found] = join(("a.csv", table))
    assert (found.messages[0].text, found.messages[0].speaker) == ("Hi.", "Ana")


def test_list_cells_of_csv_are_divided_by_a_bar_or_json() -> None:
    text = "dialogue,question,options,gold,evidence,slices\na,Where?,Oslo | Rome,Rome,1|2,topic=home\n"
    [found] = join(("a.csv", "dialogue,text\na,One.\na,Two.\n"), ("q.csv", text))
    [asked] = found.questions
    assert (asked.fields.options, asked.number, asked.fields.evidence) == (("Oslo", "Rome"), 2, ("1", "2"))
    assert asked.fields.slices == {"topic": "home"}


MALICIOUS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40)
TEXTS = (
    MALICIOUS
    | st.sampled_from(
        ["=cmd|'/c calc'!A0", "<script>", "\x00\x1b[2J", "\u202e", "null", "[1]", '{"a": 1}', "|", "\r"]
    )
).filter(str.strip)
NAMES = st.text(st.characters(categories=("L", "N"), max_codepoint=0x9FFF), min_size=1, max_size=20)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    messages, questions = [], []
    for name in names:
        ids = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
        messages += [
            {
                "dialogue": name,
                "id": each,
                "text": draw(TEXTS),
                "role": draw(st.sampled_from(["user", "assistant"])),
            }
            for each in ids
        ]
        for _ in range(draw(st.integers(0, 3))):
            row = {"dialogue": name, "question": draw(TEXTS), "type": draw(NAMES)}
            kind = draw(st.sampled_from(["choice", "open", "golds", "rubric", "abstain"]))
            if kind == "choice":
                options = draw(st.lists(TEXTS, min_size=2, max_size=4, unique_by=str.strip))
                row |= {
                    "options": [f"option {each}" for each in options],
                    "gold": draw(st.integers(1, len(options))),
                }
            else:
                row |= draw(
                    {
                        "open": st.fixed_dictionaries({"gold": TEXTS}),
                        "golds": st.fixed_dictionaries({"gold": st.lists(TEXTS, min_size=1, max_size=3)}),
                        "rubric": st.fixed_dictionaries({"rubric": TEXTS}),
                        "abstain": st.just({"abstain": True}),
                    }[kind]
                )
            questions.append(
                {**row, "evidence": [draw(st.sampled_from(ids))], "slices": {draw(NAMES): draw(NAMES)}}
            )
    return messages, questions


@given(rows())
def test_what_is_written_as_jsonl_or_csv_is_read_unchanged(
    written: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    messages, questions = written
    lines = join(("a.jsonl", to_jsonl([*messages, *questions])))
    tables = [("m.csv", to_csv(messages, "message")), ("q.csv", to_csv(questions, "question"))]
    assert join(*tables[: 1 + bool(questions)]) == lines
    assert [each.text for found in lines for each in found.messages] == [row["text"] for row in messages]
    asked = {(found.dialogue_id, each.question_id): each for found in lines for each in found.questions}
    assert [each.fields.question for each in asked.values()] == [row["question"] for row in questions]
