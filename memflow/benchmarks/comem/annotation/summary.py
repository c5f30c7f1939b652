"""What curation came to: how many questions were kept, where two hands agree, and how keys change over checkpoints.

Counts of questions, from keys alone; how well an assistant answers is no business of this.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.comem.annotation.labels import by_question, final
from memflow.benchmarks.comem.config import UNKNOWN
from memflow.benchmarks.comem.contexts import Asked, Context
from memflow.records import GoldLabel


@dataclass(frozen=True)
class At:
    """A checkpoint. Of all questions: `both`, those of which two hands said what is right, and `agreed`, those of which
    they said the same; `contradicted`, those of which a hand called right what it did not choose, or wrong what it
    chose. Of the kept ones: `untold`, those that cannot be answered yet; `changed`, those whose key is another than at
    the checkpoint before; and of those with a `published` answer, those whose key it is (`as_published`).
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
class Survey:
    """A slice of the questions: `all`, or `category X`. Each is kept, dropped or failed.

    `dropped_for` and `failed_for` count questions by reason, the most frequent first. `changes` counts the kept ones by
    how often their key changes from one checkpoint to the next: never, once, ...
    """

    slice: str
    questions: int
    kept: int
    dropped: int
    failed: int
    dropped_for: Mapping[str, int]
    failed_for: Mapping[str, int]
    changes: tuple[int, ...]
    checkpoints: tuple[At, ...]


@dataclass(frozen=True)
class _Question:
    asked: Asked
    keys: tuple[GoldLabel, ...]

    @property
    def dropped(self) -> str | None:
        return next((key.dropped for key in self.keys if key.dropped is not None), None)

    @property
    def failed(self) -> str | None:
        return next((key.reason for key in self.keys if key.reason is not None), None)

    @property
    def right(self) -> tuple[str | None, ...]:
        """The last word at each checkpoint, in order."""
        return tuple(key.answer for _, key in sorted(final(self.keys).items()))

    def told(self, key: GoldLabel) -> str | None:
        """The answer that a hand was told."""
        if key.made_by == "annotator":
            return None if self.asked.answer is None else str(self.asked.answer)
        before = [each for each in self.at(key.checkpoint) if each.made_by == "annotator"]
        return before[0].answer if before else None

    def at(self, checkpoint: int) -> list[GoldLabel]:
        return [key for key in self.keys if key.checkpoint == checkpoint]


def surveys(contexts: Sequence[Context], keys: Iterable[GoldLabel]) -> list[Survey]:
    """The survey of all questions that have keys, and of each category. Questions without keys are not counted."""
    held_of = by_question(keys)
    found = [
        _Question(asked, tuple(held))
        for context in contexts
        for asked in context.asked
        if (held := held_of.get(context.question_id(asked)))
    ]
    categories = sorted({each.asked.category for each in found if each.asked.category is not None})
    by_slice = {"all": found}
    by_slice |= {f"category {name}": [e for e in found if e.asked.category == name] for name in categories}
    return [_survey(name, held) for name, held in by_slice.items() if held]


def _survey(name: str, asked: Sequence[_Question]) -> Survey:
    kept = [each for each in asked if each.dropped is None and each.failed is None]
    dropped = Counter(each.dropped for each in asked if each.dropped is not None)
    failed = Counter(each.failed for each in asked if each.failed is not None)
    turns = Counter(sum(_changes(each)) for each in kept)
    return Survey(
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


def _checkpoints(asked: Sequence[_Question], kept: Sequence[_Question]) -> Iterator[At]:
    for place, checkpoint in enumerate(sorted({key.checkpoint for each in asked for key in each.keys})):
        hands = [[key for key in each.at(checkpoint) if key.answer is not None] for each in asked]
        pairs = [pair for pair in hands if len(pair) == 2]
        published = [each for each in kept if each.asked.answer is not None]
        yield At(
            checkpoint=checkpoint,
            both=len(pairs),
            agreed=sum(first.answer == second.answer for first, second in pairs),
            contradicted=sum(any(_contradicts(each, key) for key in each.at(checkpoint)) for each in asked),
            untold=sum(each.right[place] in (UNKNOWN, str(each.asked.unknowing)) for each in kept),
            changed=sum(place > 0 and _changes(each)[place - 1] for each in kept),
            published=len(published),
            as_published=sum(each.right[place] == str(each.asked.answer) for each in published),
        )


def _changes(asked: _Question) -> tuple[bool, ...]:
    """Whether the key changes, for each checkpoint but the first."""
    return tuple(one != other for one, other in zip(asked.right, asked.right[1:], strict=False))


def _contradicts(asked: _Question, key: GoldLabel) -> bool:
    return key.agrees is not None and key.agrees != (key.answer == asked.told(key))
