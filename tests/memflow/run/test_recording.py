"""A recorded run as a file: round trips, and errors for every kind of damage."""

import json
from dataclasses import replace

import pytest
from factories import record
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.records import TranscriptMessage
from memflow.run.recording import (
    RecordedRun,
    Source,
    is_recording,
    read,
    recording_text,
    scripted_meta,
)

MADE = RecordedRun(
    benchmark="amemgym",
    domain="amemgym_base",
    assistant="full@large",
    model="large",
    fingerprint="f" * 32,
    simulator="s" * 32,
    scripted=False,
    run="r1",
    sources=[Source(dataset="amemgym_v1_base", sha256=["0" * 64], licence="CC-BY-4.0", origin="there")],
)


def message(number: int, text: str = "Hello.", **other) -> TranscriptMessage:
    """Return message `number` of an episode whose sessions have two messages each."""
    fields = {
        "domain": "amemgym_base",
        "assistant": "full@large",
        "episode_id": "u",
        "checkpoint": 0,
        "event": number // 2,
        "position": number % 2,
        "message_id": f"u/{number // 2}" + ("+1" if number % 2 else ""),
        "role": ("user", "assistant")[number % 2],
        "text": text,
        "sequence": number,
        "origin": ("given", "assistant")[number % 2],
    }
    return TranscriptMessage(**{**fields, **other})


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(texts, st.none() | texts.map(lambda text: text[:50])), min_size=1, max_size=6))
def test_recording_is_equal_after_writing_and_reading(spoken):
    """The texts contain every kind of line break."""
    rows = [message(number, text, sent_at=sent) for number, (text, sent) in enumerate(spoken)]
    header, lines = read(recording_text(MADE, rows))
    assert header.model_dump(include=set(RecordedRun.model_fields)) == MADE.model_dump()
    assert (header.episodes, header.messages, header.cut) == (1, len(rows), [])
    assert [(line.message_id, line.text, line.sent_at) for line in lines] == [
        (row.message_id, row.text, row.sent_at) for row in rows
    ]


def test_recording_omits_a_failed_message_and_lists_its_session():
    rows = [message(0), message(1, reason="no answer"), message(2), message(3)]
    header, lines = read(recording_text(MADE, rows))
    assert [line.message_id for line in lines] == ["u/0", "u/1", "u/1+1"]
    assert (header.messages, header.cut) == (3, ["u/0"])


WHOLE = recording_text(MADE, [message(number, f"Words {number}.") for number in range(4)])


def modified(line: int, **fields) -> str:
    rows = WHOLE.splitlines()
    rows[line] = json.dumps({**json.loads(rows[line]), **fields})
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            WHOLE[: WHOLE.index("\n", WHOLE.index("Words 2")) + 1],
            "the file has 3 messages, but its first line states 4",
        ),
        (WHOLE[:-20], "line 5: Invalid JSON"),
        (modified(2, text="Other words."), "do not match the content hash in the first line"),
        (modified(3, role="system"), "line 4, role: Input should be 'user' or 'assistant'"),
        (modified(1, exposes="{}"), "line 2, exposes: Extra inputs are not permitted"),
        (modified(1, position=-1), "line 2, position: Input should be greater"),
        (modified(0, version=2), "line 1, version: Input should be 1"),
        (modified(0, messages="many"), "line 1, messages: Input should be a valid integer"),
        ("", "line 1: Invalid JSON"),
    ],
)
def test_invalid_recording_error_names_the_fault_and_the_line(text, wrong):
    with pytest.raises(BadInput, match=wrong):
        read(text)


@given(st.integers(1, 4), st.sampled_from(["drop", "twice"]))
def test_read_rejects_a_recording_with_a_missing_or_duplicate_line(at, how):
    rows = WHOLE.splitlines()
    rows[at : at + 1] = [] if how == "drop" else [rows[at]] * 2
    with pytest.raises(BadInput):
        read("\n".join(rows))


@pytest.mark.parametrize(
    ("text", "found"),
    [(WHOLE, True), ('{"id": "a", "name": "Ada"}\n', False), ("[]", False), ("no JSON", False), ("", False)],
)
def test_is_recording_recognizes_a_recording_by_its_first_line(text, found):
    assert is_recording(text) is found


@pytest.mark.parametrize("scripted", [True, False])
def test_scripted_recording_marks_its_data_set_as_scripted(scripted):
    header, _ = read(recording_text(MADE.model_copy(update={"scripted": scripted}), [message(0)]))
    plain = record(content="{}")
    made = replace(plain, record_id="run:header", content=header.model_dump_json())
    assert scripted_meta([plain, made]) == ({"scripted": "yes"} if scripted else {})
    assert scripted_meta([plain]) == {}
