"""Training examples of an assistant (paper, A.3.9): first answers that users liked or copied, as a file for TRL.

Rows of feedback.sessions become examples. An example is the first request of a training case, as the memory `none`
gets it, and the answer that the user liked or copied. Examples contain no gold and no words of feedback.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.question import build_prompt
from memflow.benchmarks.views import ExportedFile, Note, Reader, Table
from memflow.errors import BadInput
from memflow.records import FeedbackRound, Probe

Action = Literal["like", "copy"]
TRAIN = "train"


class TrainingSet(NamedTuple):
    """The training examples in TRL's conversation format, in the order of their case ids, and the excluded cases."""

    examples: list[dict[str, Any]]
    excluded: list[dict[str, str]]
    """Cases whose first answer has the action but cannot be used: `case_id`, `dataset` and `reason`."""
    counts: list[tuple[str, int, int, int]]
    """The numbers of first answers, examples and excluded cases of each data set."""


def export_liked(reader: Reader, domain: Domain) -> ExportedFile:
    """Return the first answers that users liked, as a JSONL file."""
    return _export(reader, domain, "like")


def export_copied(reader: Reader, domain: Domain) -> ExportedFile:
    """Return the first answers that users copied, as a JSONL file."""
    return _export(reader, domain, "copy")


def training_set(rows: Iterable[FeedbackRound], probes: Sequence[Probe], action: Action) -> TrainingSet:
    """Return the training examples of a domain. Their order does not depend on the order of `rows`."""
    asked = {probe.probe_id: probe for probe in probes}
    firsts = sorted((row for row in rows if row.round == 0), key=lambda row: row.case_id)
    examples: list[dict[str, Any]] = []
    excluded: list[dict[str, str]] = []
    used: Counter[str] = Counter()
    for row in firsts:
        if not (row.liked if action == "like" else row.copied):
            continue
        probe = asked.get(row.case_id)
        reason = _wrong(row, probe)
        if probe is None or reason is not None:
            excluded.append({"case_id": row.case_id, "dataset": row.dataset, "reason": reason or ""})
            continue
        prompt, fields = build_prompt(probe, "")
        request = [{"role": message.role, "content": message.content} for message in prompt.render(fields)]
        completion = [{"role": "assistant", "content": row.answer}]
        examples.append({"case_id": row.case_id, "prompt": request, "completion": completion})
        used[row.dataset] += 1
    first_answers = Counter(row.dataset for row in firsts)
    lost = Counter(case["dataset"] for case in excluded)
    counts = [(name, number, used[name], lost[name]) for name, number in sorted(first_answers.items())]
    return TrainingSet(examples, excluded, counts)


def _export(reader: Reader, domain: Domain, action: Action) -> ExportedFile:
    rows, probes = reader.rows("feedback.sessions", domain.name), reader.rows("question.probes", domain.name)
    learned = training_set(rows, probes, action)
    if not learned.examples:
        raise BadInput(
            f"{domain.name} has no training example: of its {sum(row[1] for row in learned.counts):,} first answers, "
            f"none that can be used has a {action}. Run more cases, or export the other action."
        )
    columns = ("data set", "first answers", "examples", "left out")
    lines = (json.dumps(example, ensure_ascii=False) for example in learned.examples)
    return ExportedFile(
        "".join(f"{line}\n" for line in lines),
        {"action": action, "counts": learned.counts, "left_out": learned.excluded},
        (
            Table(columns, learned.counts),
            *(Note(f"{case['case_id']} is left out: {case['reason']}.") for case in learned.excluded),
        ),
    )


def _wrong(row: FeedbackRound, probe: Probe | None) -> str | None:
    if row.reason is not None:
        return f"the feedback row is quarantined: {row.reason}"
    if probe is None or probe.split != TRAIN:
        return "question.probes does not contain the case as a training case"
    if probe.reason is not None:
        return f"the probe is quarantined: {probe.reason}"
    if not row.answer.strip():
        return "the answer is empty"
    return None
