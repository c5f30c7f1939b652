"""Import of gold labels from a file (label_file.py). Every line must match a question of the domain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.annotation.label_file import (
    HEADER_ID,
    LabeledQuestion,
    Rationale,
    question_digest,
)
from memflow.benchmarks.comem.annotation.labels import drop_unanswerable, empty_labels
from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextQuestion, visible_counts
from memflow.benchmarks.comem.load import label_records, load_contexts
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import GoldLabel, Record


def import_labels(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[GoldLabel]:
    """Return the labels of every valid question from checkpoint 1 on. Questions that are not in the file are dropped.

    Raises BadInput if the domain has no label file, and with file, line and fault for an unknown or duplicate question,
    other wording, other options or another truncation.
    """
    contexts = load_contexts(domain.limited(0), records)
    known = {
        context.question_id(asked): (context, asked) for context in contexts for asked in context.questions
    }
    lines = _label_lines(domain, records, known, config)
    return [
        label
        for context in contexts[: domain.limit or None]
        for asked in context.valid_questions
        for label in _make_labels(domain, context, asked, lines.get(context.question_id(asked)), config)
    ]


def _label_lines(
    domain: Domain,
    records: Sequence[Record],
    known: Mapping[str, tuple[Context, ContextQuestion]],
    config: CoMemConfig,
) -> dict[str, LabeledQuestion]:
    found_labels = label_records(records)
    if not found_labels:
        named = ", ".join(domain.datasets)
        raise BadInput(
            f"domain {domain.name} imports its gold labels, but none of its data sets ({named}) has a "
            "label file. Name the file *keys*.jsonl, and add its data set to the domain."
        )
    found: dict[str, LabeledQuestion] = {}
    first = 0
    for record in found_labels:
        if record.record_id == HEADER_ID:
            first = record.position
            continue
        if record.reason is not None:
            continue
        line = LabeledQuestion.model_validate_json(record.content)
        if line.question_id not in known:
            fault: str | None = "the domain has no such question"
        elif line.question_id in found:
            fault = "another label file of the domain also contains the question"
        else:
            fault = _mismatch(line, *known[line.question_id], config)
        if fault is not None:
            where = f"{record.dataset}: {record.source}, line {1 + record.position - first}"
            raise BadInput(f"domain {domain.name}: {where}: question {line.question_id}: {fault}")
        found[line.question_id] = line
    return found


def _mismatch(
    line: LabeledQuestion, context: Context, asked: ContextQuestion, config: CoMemConfig
) -> str | None:
    """Return how a line of the label file differs from the question of the domain, or None if both are equal."""
    if line.digest != question_digest(asked):
        return "the labels belong to a different wording of the question or to different options"
    told = {at.share: at.visible for at in line.keys}
    shares = list(config.checkpoints)
    if [at.share for at in line.keys] != shares:
        return f"the labels are at {list(told)} of the context, but the domain's checkpoints are at {shares}"
    for at, index in zip(line.keys, visible_counts(context, asked, config)[1:], strict=True):
        if at.visible != index:
            return (
                f"the label at {at.share} was made from {at.visible} messages, but {index} are visible in the domain: "
                "the truncation (parameter ends) or the dialogues differ"
            )
        if at.answer != "unknown" and at.answer > len(asked.options):
            return f"the label at {at.share} is option {at.answer}, but the question has {len(asked.options)} options"
    return None


def _make_labels(
    domain: Domain,
    context: Context,
    asked: ContextQuestion,
    line: LabeledQuestion | None,
    config: CoMemConfig,
) -> Iterator[GoldLabel]:
    empty = empty_labels("imported", domain, context, asked, config)
    if line is None:
        yield from (replace(label, dropped="no label file contains the question") for label in empty)
        return
    filled = [
        replace(label, answer=str(at.answer), why="\n".join(map(_rationale_text, at.grounds)) or None)
        for label, at in zip(empty, line.keys, strict=True)
    ]
    yield from drop_unanswerable(asked, filled, config)


def _rationale_text(ground: Rationale) -> str:
    who = ", ".join(name for name in (ground.hand, ground.model) if name is not None)
    return ": ".join(part for part in (who, ground.why) if part)
