"""The memory with a model's notes on each unit that was found."""

import pytest
from longmemeval_rows import write
from memory_helpers import build

from memflow.benchmarks.longmemeval.unit_notes import NoteIndex
from memflow.errors import RecallFailed


async def test_notes_replace_the_chats_and_a_missing_note_fails_the_read() -> None:
    answers = {"unit_note": lambda request: f"about {request.fields['question']}"}
    recall = await (await write(build(NoteIndex, answers))).read("bicycle.")
    assert recall.notes.count("about bicycle.") == 2 and "I own" not in recall.notes
    with pytest.raises(RecallFailed):
        await (await write(build(NoteIndex, {"unit_note": ""}))).read("bicycle.")
