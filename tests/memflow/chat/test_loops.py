"""Loops: ends of answers that repeat. The forms are those of a small model (SmolLM2-135M-Instruct)."""

import json

import pytest
from pydantic import BaseModel

from memflow.chat.limits import Items
from memflow.chat.loops import loop_at_end, loop_in_strings, loop_of
from memflow.memories.mem0.answers import Facts

COUNTED = '{"facts": [{"text": "New: ", "messages": [' + ", ".join(map(str, range(1, 41)))
INDENTED = "".join(f'{" " * 2 * depth}"default": {{\n' for depth in range(12))


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Well. " + "No, " * 30, "No,"),
        ("I see. " + "You can leave out the last message. " * 4, "You can leave out the last message."),
        ('{"text": "' + "The garden is a place. " * 5 + "The gar", "The garden is a place."),
        (
            "".join(f"{number}. I will take your plants along. " for number in range(1, 15)),
            "I will take your plants along. 0.",
        ),
        (COUNTED, "0,"),
        (INDENTED, '{ "default":'),
        ('{"facts": [' + "\n" * 100, "white space"),
    ],
)
def test_end_that_repeats_is_found(text: str, unit: str) -> None:
    assert loop_at_end(text) == unit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No, no, no.",
        "She said that she will come on Friday, that she will bring the plants, and that she will stay.",
        json.dumps([{"fact": number, "operation": "NOOP", "text": ""} for number in range(1, 9)], indent=2),
        "| a | b |\n|---|---|\n" + "".join(f"| {word} | {len(word)} |\n" for word in ("the", "cello", "has")),
    ],
)
def test_lists_and_prose_are_no_loops(text: str) -> None:
    assert loop_at_end(text) == ""


def test_loop_inside_of_json_is_found_in_its_strings() -> None:
    looped = json.dumps({"facts": [{"text": "I am glad. " * 12, "messages": [1]}]})
    assert loop_at_end(looped) == "" and loop_in_strings(looped) == "I am glad."
    assert loop_in_strings(json.dumps({"text": 'She said "yes" and left.'})) == ""


class Plan(BaseModel):
    """The steps of a plan, in order."""

    steps: Items[str]


def test_answer_that_repeats_the_schema_is_a_loop_when_it_is_cut() -> None:
    echo = 'JSON schema:\n{"steps": ["The steps of a plan, in order.", "title'
    assert loop_of(echo, Plan) == "the schema of the request"
    assert loop_of('{"steps": ["Dig the bed", "Sow the', Plan) == ""
    assert loop_of('{"type": "object", "additionalProperties": {', Facts) == "the schema of the request"
