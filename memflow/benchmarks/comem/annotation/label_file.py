"""The file format of gold labels, and the conversion of a domain's labels to such a file.

The format is JSON Lines in UTF-8: a header, then one question per line with its label at each checkpoint. The file
contains no dialogue text except quotations in rationales. A digest identifies the question and its options.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.comem.annotation.labels import ANNOTATOR_PRECEDENCE, final_labels, labels_by_question
from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig, parse_config
from memflow.benchmarks.comem.contexts import Context, ContextQuestion, visible_counts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import GoldLabel, Record

Name = Annotated[str, Field(min_length=1, max_length=300)]

HEADER_ID = "keys:header"
"""The id of the header's record. The other record ids are question ids."""


class _FileModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class LabelFileHeader(_FileModel):
    """The header of a label file. `questions` is the number of lines that follow; `domain` is the labeled domain."""

    format: Literal["memflow keys 1"]
    domain: Name | None = None
    questions: int | None = Field(None, ge=1)


class Rationale(_FileModel):
    """The rationale of one annotator: `hand` is the annotation round, `model` the model."""

    hand: Name | None = None
    model: Name | None = None
    why: str | None = Field(None, max_length=20_000)


class CheckpointLabel(_FileModel):
    """The label after a `share` of the context, that is, after its first `visible` messages.

    The label is the number of an option, from 1, or `unknown`.
    """

    share: float = Field(gt=0, le=1)
    visible: int = Field(ge=0)
    answer: Annotated[int, Field(ge=1, le=1000)] | Literal["unknown"]
    grounds: list[Rationale] = Field([], max_length=10)


class LabeledQuestion(_FileModel):
    """A question: its id, the digest of question and options, and its labels in the order of the checkpoints."""

    question_id: str = Field(min_length=3, max_length=1000, pattern=r"[^/]/[^/]")
    digest: str = Field(pattern=r"^[0-9a-f]{32}$")
    keys: list[CheckpointLabel] = Field(min_length=1, max_length=20)


@dataclass(frozen=True)
class LabelFile:
    """A label file: its text, its number of questions, and the reason for each omitted question, by id."""

    text: str
    questions: int
    left_out: Mapping[str, str]


def question_digest(asked: ContextQuestion) -> str:
    """Return the digest of a question's text and its options in published order."""
    return digest(asked.question, asked.options)


def format_label_file(
    domain: Domain, contexts: Sequence[Context], labels: Sequence[GoldLabel], models: Mapping[str, str]
) -> LabelFile:
    """Return the final labels of a domain as a file, with the rationale of every annotator.

    Dropped and failed questions are omitted. `models` maps fingerprints to model names. Raises BadInput if the labels
    belong to questions or checkpoints that the domain does not have.
    """
    found_labels = dict(labels_by_question(labels))
    lines: list[LabeledQuestion] = []
    left_out: dict[str, str] = {}
    for context in contexts:
        for asked in context.questions:
            question = context.question_id(asked)
            mine = found_labels.pop(question, [])
            reason = next(
                (reason for label in mine for reason in (label.reason, label.dropped) if reason is not None),
                None,
            )
            if reason is not None:
                left_out[question] = reason
            elif mine:
                lines.append(_labeled_question(domain, context, asked, mine, models))
    if found_labels:
        raise BadInput(
            f"{domain.name}: the stored labels include {next(iter(found_labels))}, which is not a "
            f"question of the domain; {_REBUILD}"
        )
    header = LabelFileHeader(format="memflow keys 1", domain=domain.name, questions=len(lines) or None)
    return LabelFile("".join(map(_json, (header, *lines))), len(lines), left_out)


_REBUILD = "rebuild question/keys"


def _labeled_question(
    domain: Domain,
    context: Context,
    asked: ContextQuestion,
    labels: Sequence[GoldLabel],
    models: Mapping[str, str],
) -> LabeledQuestion:
    config, last = parse_config(domain), final_labels(labels)
    seen = dict(enumerate(visible_counts(context, asked, config)[1:], start=1))
    if {number: label.visible for number, label in last.items()} != seen:
        raise BadInput(
            f"{domain.name}: the labels of {context.question_id(asked)} belong to a truncation that "
            f"differs from the domain's; {_REBUILD}"
        )
    return LabeledQuestion(
        question_id=context.question_id(asked),
        digest=question_digest(asked),
        keys=[
            CheckpointLabel(
                share=share,
                visible=seen[number],
                answer=_answer(last[number]),
                grounds=list(_rationales(labels, number, models)),
            )
            for number, share in enumerate(config.checkpoints, start=1)
        ],
    )


def _answer(label: GoldLabel) -> int | Literal["unknown"]:
    if label.answer is None:
        raise BadInput(
            f"{label.domain}: question {label.question_id} has no label at checkpoint "
            f"{label.checkpoint}; {_REBUILD}"
        )
    return UNKNOWN if label.answer == UNKNOWN else int(label.answer)


def _rationales(
    labels: Sequence[GoldLabel], checkpoint: int, models: Mapping[str, str]
) -> Iterator[Rationale]:
    """Yield the rationale of each annotator. The rationale of the final label comes last."""
    for label in sorted(labels, key=lambda label: ANNOTATOR_PRECEDENCE.index(label.made_by), reverse=True):
        if label.checkpoint == checkpoint:
            model = None if label.model is None else models.get(label.model, label.model)
            yield Rationale(hand=label.made_by, model=model, why=label.why)


def _json(shape: BaseModel) -> str:
    said: dict[str, Any] = shape.model_dump(mode="json", exclude_none=True)
    return f"{json.dumps(said, ensure_ascii=False)}\n"


def read(file: File) -> list[RawRecord]:
    """Return the header, then each question with its id. Raises BadInput for an invalid header or a truncated file."""
    lines = list(file.lines())
    if not lines:
        raise file.bad("the label file is empty")
    for number, line in enumerate(lines, start=1):
        # The record's position gives its line in later errors.
        if line.where != f"line {number}":
            raise file.bad(f"line {number} of the label file is empty")
    header = file.shaped(LabelFileHeader, lines[0].content, "line 1")
    questions = list(parse_records(lines[1:], validated(LabeledQuestion, "question_id")))
    if header.questions is not None and header.questions != len(questions):
        raise file.bad(
            f"the file has {len(questions)} questions, but its header states {header.questions}; it may be truncated"
        )
    return [replace(lines[0], record_id=HEADER_ID), *questions]


def contexts(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[Context]:
    """Return an empty list, because a label file contains no dialogues."""
    return []
