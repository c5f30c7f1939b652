"""Memories with a policy that can evolve: the list of the kinds of information to store (AMemGym, section 5).

The current policy is an entry, so a restored memory has the policy of its time. memflow/run/evolution.py computes new
policies from feedback; the memory itself receives no feedback.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from memflow.memories.entries import Item
from memflow.memories.memory import FAILURE, Memory, parameter

POLICY = "policy"
"""Kind of the entries that contain a policy."""
FEEDBACK = ("questions", "complete", "published_code")
"""The parts of the questions and answers that the evolver sees."""
CADENCES = ("period", "episode")


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """One step of the evolution of a policy: the new policy, and the results of the questions behind it.

    `cycle` is the number of episodes played before. `checkpoint` is the last checkpoint whose questions the evolver
    saw: `asked`, `answered` and `correct` count these questions. A failed step has a `reason`, and `kinds` is the
    previous policy. `failed` has the reasons of the items of the evolver's answer that are not part of the policy.
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
    failed: tuple[str, ...] = ()


def policy_step(item: Item) -> PolicyStep | None:
    """Return the evolution step that an entry records; None for another entry."""
    if item.kind not in (POLICY, FAILURE) or "kinds" not in item.meta:
        return None
    values = {**item.meta, **{name: tuple(item.meta[name]) for name in ("kinds", "changes")}}
    return PolicyStep(**values, reason=item.text if item.kind == FAILURE else None)


@dataclass
class EvolvingMemory(Memory):
    """A memory that writes by a policy that can evolve. Feedback and frequency of the evolution are parameters."""

    feedback: str = parameter(
        "complete", "The parts of the questions and answers that the evolver sees.", choices=FEEDBACK
    )
    cadence: str = parameter(
        "period",
        "The policy evolves after every period, or after every play of the episode.",
        choices=CADENCES,
    )
    cycles: int = parameter(
        1, "Number of plays of the episode before the evaluated one (cadence = episode).", high=100
    )

    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {POLICY}

    @property
    @abstractmethod
    def first(self) -> tuple[str, ...]:
        """The initial policy: the kinds of information to store before the first evolution step."""

    @property
    def policy(self) -> tuple[str, ...]:
        """The current policy: the kinds of information of the last successful evolution step."""
        item = self.store.newest(POLICY)
        return self.first if item is None else tuple(item.meta["kinds"])

    def follow(self, steps: Sequence[PolicyStep]) -> None:
        """Record evolution steps; the policy of the last successful step becomes the current policy."""
        for step in steps:
            self._record(step)

    def _record(self, step: PolicyStep) -> None:
        """Add an entry with the policy of a step, or with the reason of a failed step."""
        meta = {name: value for name, value in asdict(step).items() if name not in ("reason", "failed")}
        for reason in step.failed:
            self.store.add(FAILURE, reason, sources=())
        policy_item = self.store.newest(POLICY)
        if step.reason is not None:
            self.store.add(FAILURE, step.reason, sources=(), meta=meta)
        elif policy_item is None:
            self.store.add(POLICY, numbered_list(step.kinds), sources=(), meta=meta)
        else:
            self.store.revise(policy_item, text=numbered_list(step.kinds), meta=meta)


def numbered_list(kinds: Sequence[str]) -> str:
    """Return kinds of information as a numbered list for prompts and tables."""
    return "\n".join(f"{number}. {kind}" for number, kind in enumerate(kinds, 1))
