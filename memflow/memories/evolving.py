"""A memory with a policy that can be improved: the list of kinds of information that it keeps (AMemGym, section 5).

The policy in force is an entry of the store, so a memory restored at a checkpoint writes by the policy of that time.
A memory is given a policy and nothing else: what an evolver was told to find it, gold among it, never gets here.
How policies are found is evolution.py.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from memflow.memories.entries import Item
from memflow.memories.memory import FAILURE, Memory, parameter

POLICY = "policy"
"""Kind of the entries that hold a policy."""
FEEDBACK = ("questions", "complete", "published_code")
"""What an evolver is told; a memory that is told nothing is one that does not evolve."""
CADENCES = ("period", "episode")


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """One step of an evolution: a policy, and what came before it.

    `cycle` counts the episodes lived before it, `checkpoint` is the last whose questions the evolver was told
    of. Of those questions `asked` were asked, `answered` answered and `correct` rightly, under the policy before.
    The first policy comes of nothing. With a `reason` the step failed, and `kinds` are those that stay.
    """

    kinds: tuple[str, ...]
    cycle: int = 0
    checkpoint: int | None = None
    changes: tuple[str, ...] = ()
    asked: int = 0
    answered: int = 0
    correct: int = 0
    completion: str | None = None
    reason: str | None = None


def policy_step(item: Item) -> PolicyStep | None:
    """The step that an entry keeps; None for an entry of anything else."""
    if item.kind not in (POLICY, FAILURE) or "kinds" not in item.meta:
        return None
    kept = {**item.meta, **{name: tuple(item.meta[name]) for name in ("kinds", "changes")}}
    return PolicyStep(**kept, reason=item.text if item.kind == FAILURE else None)


@dataclass
class EvolvingMemory(Memory):
    """A memory that writes by `policy`. By what feedback and how often it evolves are parameters."""

    feedback: str = parameter(
        "complete", "What the evolver is told of the questions asked.", choices=FEEDBACK
    )
    cadence: str = parameter(
        "period", "After every period, its memory kept, or after every episode.", choices=CADENCES
    )
    cycles: int = parameter(
        1, "Episodes lived before the one that is measured, if evolving by episode.", high=100
    )

    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {POLICY}

    @property
    @abstractmethod
    def first(self) -> tuple[str, ...]:
        """The policy that it begins with."""

    @property
    def policy(self) -> tuple[str, ...]:
        """The policy in force."""
        item = self.store.newest(POLICY)
        return self.first if item is None else tuple(item.meta["kinds"])

    def follow(self, steps: Sequence[PolicyStep]) -> None:
        """Take up the policy of the last step; each is kept, one after another, as of now."""
        for step in steps:
            self._take(step)

    def _take(self, step: PolicyStep) -> None:
        meta = {name: value for name, value in asdict(step).items() if name != "reason"}
        before = self.store.newest(POLICY)
        if step.reason is not None:
            self.store.add(FAILURE, step.reason, sources=(), meta=meta)
        elif before is None:
            self.store.add(POLICY, numbered_list(step.kinds), sources=(), meta=meta)
        else:
            self.store.revise(before, text=numbered_list(step.kinds), meta=meta)


def numbered_list(kinds: Sequence[str]) -> str:
    """Kinds of information as prompts and tables show them: `1. ...`, one a line."""
    return "\n".join(f"{number}. {kind}" for number, kind in enumerate(kinds, 1))
