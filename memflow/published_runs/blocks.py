"""Retrieved blocks of messages: a companion file says which messages a block covers, and its text."""

from collections.abc import Sequence
from dataclasses import replace

from memflow.published_runs.files import ResultsFile
from memflow.published_runs.forms import Form, Missing, RawRow, raw_rows
from memflow.published_runs.rows import PublishedAnswer


def is_blocks(file: ResultsFile, form: Form) -> bool:
    """Return whether a file has the blocks of a form."""
    marks = form.blocks.get("marks", ())
    return bool(marks) and any(
        all(not isinstance(row.value(mark), Missing) for mark in marks)
        for row in raw_rows(file.data, "[]", file.name)
    )


def with_blocks(
    answers: Sequence[PublishedAnswer], form: Form, file: ResultsFile | None, notes: list[str]
) -> list[PublishedAnswer]:
    """Return the answers with the messages and texts of their blocks, whose ids are in `messages`.

    Adds `block_recall`, the share of the evidence blocks that were retrieved, and `block_hit`, 1 if any was. Without a
    file of blocks, the messages are unknown.
    """
    if file is None:
        notes.append("the file of blocks is missing, so the retrieved messages are unknown")
    blocks = {} if file is None else {str(row.value(form.blocks["id"])): row for row in file.rows(form)}
    return [_with_blocks(answer, form, blocks) for answer in answers]


def _with_blocks(answer: PublishedAnswer, form: Form, blocks: dict[str, RawRow]) -> PublishedAnswer:
    rows = [blocks[name] for name in answer.messages if name in blocks]
    evidence = set(answer.recorded_evidence)
    hits = len(evidence.intersection(answer.messages))
    recalls = {"block_recall": hits / len(evidence), "block_hit": float(hits > 0)} if evidence else {}
    return replace(
        answer,
        messages=tuple(name for row in rows for name in _messages(row, form)),
        texts=tuple(str(row.value(form.blocks["text"])) for row in rows),
        retrieved=len(answer.messages),
        recorded_evidence=(),
        has_context=bool(blocks),
        metrics={**answer.metrics, **recalls},
    )


def _messages(row: RawRow, form: Form) -> list[str]:
    session = str(row.value(form.blocks["session"])).removeprefix("session_")
    first, last = row.value(form.blocks["first"]), row.value(form.blocks["last"])
    return [
        form.blocks["message"].format(session=session, number=number) for number in range(first, last + 1)
    ]
