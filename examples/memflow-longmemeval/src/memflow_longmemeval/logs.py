"""Published logs of other code: labels of replies, and retrieval results; read, and averaged again.

A label log has one JSON object a line: `question_id`, `autoeval_label` with `model` and `label`, and often the type.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, StrictBool, ValidationError

from memflow.benchmarks.raw_records import first_error
from memflow.errors import BadInput
from memflow_longmemeval.known_errors import KNOWN_ERRORS
from memflow_longmemeval.types import TYPES, is_abstention


class _Judged(BaseModel):
    model: str = ""
    label: StrictBool


class LabeledReply(BaseModel):
    """A line of a label log."""

    question_id: str
    question_type: str | None = None
    hypothesis: str = ""
    autoeval_label: _Judged


@dataclass(frozen=True)
class LabelAverages:
    """The averages of a label log; None where no question counts. `counts` has the questions of each average.

    `unknown_types` is the number of questions whose type neither the log nor the stored probes name.
    """

    judges: Mapping[str, int]
    values: Mapping[str, float | None]
    counts: Mapping[str, int]
    problems: Sequence[str] = ()
    unknown_types: int = 0


def read_labels(path: Path, types: Mapping[str, str] | None = None) -> tuple[list[LabeledReply], list[str]]:
    """Return the replies of a log and a sentence for each unusable line. `types` has the types that the log lacks.

    Raises BadInput if the file has no usable line.
    """
    found: dict[str, LabeledReply] = {}
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
        if reply.question_type is None:
            reply.question_type = (types or {}).get(reply.question_id)
        if reply.question_id in found:
            problems.append(f"line {number}: a second label for {reply.question_id}; the first is kept")
            continue
        found[reply.question_id] = reply
    if not found:
        raise BadInput(f"{path}: no line is a label. {problems[0] if problems else 'The file is empty'}.")
    return list(found.values()), problems


def average_labels(replies: Iterable[LabeledReply], problems: Sequence[str] = ()) -> LabelAverages:
    """Return the published averages: by type, task-averaged, overall and abstention; and overall without each part."""
    replies = list(replies)
    groups: dict[str, list[bool]] = {name: [] for name in TYPES}
    for each in replies:
        if each.question_type in groups:
            groups[each.question_type].append(each.autoeval_label.label)
    parts = {
        **groups,
        "overall": [each.autoeval_label.label for each in replies],
        "abstention": [each.autoeval_label.label for each in replies if is_abstention(each.question_id)],
        "answerable": [each.autoeval_label.label for each in replies if not is_abstention(each.question_id)],
        "without known errors": [
            each.autoeval_label.label for each in replies if each.question_id not in KNOWN_ERRORS
        ],
    }
    values = {name: _mean(part) for name, part in parts.items()}
    of_types = [values[name] for name in TYPES]
    known = [each for each in of_types if each is not None]
    values["task-averaged"] = _mean(known) if len(known) == len(TYPES) else None
    counts = {name: len(part) for name, part in parts.items()}
    return LabelAverages(
        Counter(each.autoeval_label.model for each in replies),
        values,
        {**counts, "task-averaged": sum(map(len, groups.values()))},
        problems,
        sum(each.question_type not in groups for each in replies),
    )


def retrieval_averages(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the means of the metrics in a published retrieval log, by grain, without abstention questions."""
    sums: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if is_abstention(row["question_id"]):
            continue
        for grain, values in row["retrieval_results"]["metrics"].items():
            for name, value in values.items():
                sums.setdefault(grain, {}).setdefault(name, []).append(value)
    return {
        grain: {name: sum(each) / len(each) for name, each in values.items()}
        for grain, values in sums.items()
    }


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"{path} cannot be read: {wrong}. Give a file of JSON lines.") from wrong
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
