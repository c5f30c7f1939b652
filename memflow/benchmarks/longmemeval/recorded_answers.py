"""Logs of the published evaluation script: recorded replies with their labels, one JSON object a line."""

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, StrictBool, ValidationError

from memflow.benchmarks.raw_records import first_error
from memflow.errors import BadInput


class _Judged(BaseModel):
    model: str = ""
    label: StrictBool


class LabeledReply(BaseModel):
    """A line of a label log."""

    question_id: str
    hypothesis: str = ""
    autoeval_label: _Judged


def read_labels(path: Path) -> tuple[list[LabeledReply], list[str]]:
    """Return the replies of a log and a sentence for each unusable line.

    Raises BadInput if the file has no usable line.
    """
    replies: dict[str, LabeledReply] = {}
    problems = []
    for number, line in _lines(path):
        try:
            reply = LabeledReply.model_validate(json.loads(line))
        except ValidationError as wrong:
            problems.append(f"line {number}: {first_error(wrong)}")
            continue
        except (ValueError, RecursionError) as wrong:
            problems.append(f"line {number}: invalid JSON ({wrong})")
            continue
        if reply.question_id in replies:
            problems.append(f"line {number}: a second label for {reply.question_id}; the first is kept")
            continue
        replies[reply.question_id] = reply
    if not replies:
        raise BadInput(f"{path}: no line is a label. {problems[0] if problems else 'The file is empty'}.")
    return list(replies.values()), problems


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"{path} cannot be read: {wrong}. Give a file of JSON lines.") from wrong
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
