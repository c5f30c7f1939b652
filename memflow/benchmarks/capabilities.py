"""What some benchmarks can do beyond the steps of all: a benchmark that can is a subclass of the capability, too.

A step asks `isinstance(benchmark, MemoryClaims)` and writes no rows for the others.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.step_values import MemorySnapshots, States
from memflow.chat.requests import Chat
from memflow.memories.memory import Tools
from memflow.records import Claim, FeedbackRound, PlayedRound, Probe, Reply, Turn
from memflow.run.play import PlayedEpisode


class SimulatedFeedback(ABC):
    """Simulated users react to answers: off-policy to the backbone's, and on-policy to the assistant's own."""

    @abstractmethod
    async def feedback(
        self,
        domain: Domain,
        turns: Sequence[Turn],
        probes: Sequence[Probe],
        backbone: Chat,
        simulator: Chat,
        tools: Tools,
    ) -> list[FeedbackRound]:
        """Return off-policy feedback: the backbone answers the training cases and the simulated users react."""

    def plays_probes(self, domain: Domain) -> bool:
        """Return whether the assistant answers probes (training cases) within its episodes."""
        return False

    def rounds(self, domain: Domain, assistant: str, played: Sequence[PlayedEpisode]) -> list[PlayedRound]:
        """Return the users' reactions to the answers in played dialogues; empty if the benchmark has no reactions."""
        return []


class EvolutionFeedback(ABC):
    """Feedback for memories that evolve: those that change what they store after each period."""

    @abstractmethod
    def build_evolution_feedback(
        self,
        domain: Domain,
        feedback: str,
        probes: Sequence[Probe],
        replies: Sequence[Reply],
        turns: Sequence[Turn],
    ) -> str:
        """Return the feedback that an evolving memory gets on the probes just answered. The feedback contains gold.

        `feedback` is a value of `memories.evolving.FEEDBACK`; `turns` are all turns of the domain.
        """


class MemoryClaims(ABC):
    """Claims about users, of which a judge says whether the memory contains them at each checkpoint."""

    @abstractmethod
    def claims(self, domain: Domain, assistant: str, states: States, turns: Sequence[Turn]) -> list[Claim]:
        """Return the facts that an assistant's memory should contain at each checkpoint, without verdicts.

        The claims of an episode are consecutive.
        """

    @abstractmethod
    async def judge_claims(
        self, domain: Domain, claims: Sequence[Claim], snapshots: MemorySnapshots, judge: Chat
    ) -> list[Claim]:
        """Return the claims in order, each with the judge's value or with a reason."""
