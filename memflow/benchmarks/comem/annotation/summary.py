"""Counts of gold labels: kept and dropped questions, agreement, and label changes over checkpoints."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.comem.annotation.labels import final_labels, labels_by_question
from memflow.benchmarks.comem.config import UNKNOWN
from memflow.benchmarks.comem.contexts import Context, ContextQuestion
from memflow.records import GoldLabel


@dataclass(frozen=True)
class CheckpointSummary:
    """The numbers of questions with certain labels at one checkpoint.

    Of all questions, `both` have labels of two annotators, `agreed` have equal labels, and `contradicted` have a label
    that contradicts the annotator's own verdict on the other label. Of kept questions, `untold` have an unknown answer,
    `changed` have another label than at the previous checkpoint, `published` have a published answer, and
    `as_published` have this answer as label.
    """

    checkpoint: int
    both: int
    agreed: int
    contradicted: int
    untold: int
    changed: int
    published: int
    as_published: int


@dataclass(frozen=True)
class LabelSummary:
    """The numbers of questions in a slice (`all` or `category X`). Each question is kept, dropped or failed.

    `dropped_for` and `failed_for` count questions by reason, most frequent first. `changes[k]` is the number of kept
    questions whose label changes k times.
    """

    slice: str
    questions: int
    kept: int
    dropped: int
    failed: int
    dropped_for: Mapping[str, int]
    failed_for: Mapping[str, int]
    changes: tuple[int, ...]
    checkpoints: tuple[CheckpointSummary, ...]


@dataclass(frozen=True)
class _QuestionLabels:
    question: ContextQuestion
    keys: tuple[GoldLabel, ...]

    @property
    def dropped(self) -> str | None:
        return next((label.dropped for label in self.keys if label.dropped is not None), None)

    @property
    def failed(self) -> str | None:
        return next((label.reason for label in self.keys if label.reason is not None), None)

    @property
    def right(self) -> tuple[str | None, ...]:
        """The answer of the question's final label at each checkpoint, in order of the checkpoints."""
        return tuple(label.answer for _, label in sorted(final_labels(self.keys).items()))

    def shown_answer(self, label: GoldLabel) -> str | None:
        """Return the published or the annotator's answer that an annotation prompt contained."""
        if label.made_by == "annotator":
            return None if self.question.answer is None else str(self.question.answer)
        before = [each for each in self.at(label.checkpoint) if each.made_by == "annotator"]
        return before[0].answer if before else None

    def at(self, checkpoint: int) -> list[GoldLabel]:
        return [label for label in self.keys if label.checkpoint == checkpoint]


def summarize_labels(contexts: Sequence[Context], labels: Iterable[GoldLabel]) -> list[LabelSummary]:
    """Return one summary of all labeled questions, and one summary of each category."""
    held_of = labels_by_question(labels)
    found = [
        _QuestionLabels(asked, tuple(found_labels))
        for context in contexts
        for asked in context.questions
        if (found_labels := held_of.get(context.question_id(asked)))
    ]
    categories = sorted({each.question.category for each in found if each.question.category is not None})
    by_slice = {"all": found}
    by_slice |= {f"category {name}": [e for e in found if e.question.category == name] for name in categories}
    return [_summarize(name, found_labels) for name, found_labels in by_slice.items() if found_labels]


def _summarize(name: str, asked: Sequence[_QuestionLabels]) -> LabelSummary:
    kept = [each for each in asked if each.dropped is None and each.failed is None]
    dropped = Counter(each.dropped for each in asked if each.dropped is not None)
    failed = Counter(each.failed for each in asked if each.failed is not None)
    turns = Counter(sum(_changes(each)) for each in kept)
    return LabelSummary(
        slice=name,
        questions=len(asked),
        kept=len(kept),
        dropped=dropped.total(),
        failed=failed.total(),
        dropped_for=dict(dropped.most_common()),
        failed_for=dict(failed.most_common()),
        changes=tuple(turns[times] for times in range(max(turns, default=-1) + 1)),
        checkpoints=tuple(_checkpoints(asked, kept)),
    )


def _checkpoints(
    asked: Sequence[_QuestionLabels], kept: Sequence[_QuestionLabels]
) -> Iterator[CheckpointSummary]:
    for index, checkpoint in enumerate(sorted({label.checkpoint for each in asked for label in each.keys})):
        hands = [[label for label in each.at(checkpoint) if label.answer is not None] for each in asked]
        pairs = [pair for pair in hands if len(pair) == 2]
        published = [each for each in kept if each.question.answer is not None]
        yield CheckpointSummary(
            checkpoint=checkpoint,
            both=len(pairs),
            agreed=sum(first.answer == second.answer for first, second in pairs),
            contradicted=sum(
                any(_contradicts(each, label) for label in each.at(checkpoint)) for each in asked
            ),
            untold=sum(each.right[index] in (UNKNOWN, str(each.question.unknown_option)) for each in kept),
            changed=sum(index > 0 and _changes(each)[index - 1] for each in kept),
            published=len(published),
            as_published=sum(each.right[index] == str(each.question.answer) for each in published),
        )


def _changes(asked: _QuestionLabels) -> tuple[bool, ...]:
    """Return, for each checkpoint after the first, whether the label differs from the previous label."""
    return tuple(one != other for one, other in zip(asked.right, asked.right[1:], strict=False))


def _contradicts(asked: _QuestionLabels, label: GoldLabel) -> bool:
    return label.agrees is not None and label.agrees != (label.answer == asked.shown_answer(label))
