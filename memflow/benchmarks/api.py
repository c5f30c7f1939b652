"""What a benchmark is: seven steps of the walk, each from rows to rows.

A step either reads what the data set publishes or has the simulator make it; which, the benchmark decides by its
domain. Steps ask models at once and rely on the chat to bound the requests in flight. A failed item is a row with its
reason. Nothing here knows where rows are kept.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.memories.memory import Recall, Tools
from memflow.metrics.backends import MetricBackends
from memflow.records import (
    Change,
    Claim,
    Entity,
    FeedbackRound,
    GoldLabel,
    PlayedRound,
    Policy,
    Probe,
    Profile,
    Record,
    Reply,
    Score,
    Turn,
    Variable,
    Verdict,
)
from memflow.run.play import Episode, Played, Replier
from memflow.scoring.groups import Group


@dataclass(frozen=True)
class States:
    """The state tables of a domain: users have states that change, or people and things in their lives."""

    profiles: list[Profile] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)


@dataclass(frozen=True)
class Annotators:
    """The two models that say what is right, one after the other; the second is told what the first said.

    `expect` is told how many answers there are to be, of both together, and gives what to call after each.
    """

    first: Chat
    second: Chat
    expect: Callable[[int], Callable[[], None]] = lambda total: lambda: None


@dataclass(frozen=True)
class Question:
    """How a probe is put to an assistant: its prompt and fields, and what the memory is read with."""

    prompt: Prompt
    fields: Mapping[str, Any]
    query: str


Held = Mapping[tuple[str, int], str]
"""Episode and checkpoint to all that a memory held then, as text."""


@dataclass(frozen=True)
class AssistantResults:
    """What a leaderboard is made from: one assistant's verdicts in one domain, beside its bounds on the same model.

    `oracle` and `none` hold the verdicts of these two memories under the same chat model, empty where not run.
    `asked` is every probe that should have a verdict.
    """

    domain: str
    assistant: str
    memory: str
    model: str
    probes: Sequence[Probe]
    verdicts: Sequence[Verdict]
    oracle: Sequence[Verdict]
    none: Sequence[Verdict]
    simulator: str
    scripted: bool
    claims: Sequence[Claim] = ()
    """What the judge said of the assistant's memory; none where nothing is claimed of it."""
    scripted_judge: bool = False
    policies: Sequence[Policy] = ()
    """The steps of its evolution, where it evolves."""
    groups: Sequence[Group] = ()
    """Its verdicts in groups, for a benchmark that counts no rows; `verdicts`, `oracle` and `none` are empty then."""
    pool: Sequence[Group] = ()
    """The groups of all assistants in the domain with the same chat model, its own among them."""


class Benchmark(ABC):
    """One benchmark. Every method takes the domain, cut to its limit.

    What is abstract, every benchmark has to say itself. The rest is as most have it: no states, no feedback,
    nobody replies or reacts while an assistant is played, and every metric is computed.
    """

    name: ClassVar[str]
    provides_feedback: ClassVar[bool] = False
    """Whether it draws up feedback for memories that evolve (`lesson`)."""
    aggregates_in_sql: ClassVar[bool] = False
    """Whether its figures are made of verdicts as rows; else of groups of them, which may stand for very many."""

    @abstractmethod
    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        """Read a published data set. Raises BadInput saying which file, which record and what is wrong."""

    @abstractmethod
    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        """What the episodes' streams hold before they are played."""

    @abstractmethod
    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        keys: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        """What is asked, with its gold: test probes, and training cases where the benchmark gathers feedback.

        `keys` are the domain's, where it has any.
        """

    @abstractmethod
    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
        probes: Sequence[Probe] = (),
    ) -> list[Episode]:
        """The episodes to play; a base stands before those built on it. `probes` are the domain's where `asking`."""

    @abstractmethod
    def question(self, domain: Domain, probe: Probe, recall: Recall, told: str | None) -> Question:
        """How `probe` is asked with what was recalled. `told` is the gold, for the oracle alone.

        `Question.query` must not depend on `recall`: the memory is read with the query of an empty one.
        """

    @abstractmethod
    def parse(self, probe: Probe, value: Any) -> str:
        """The parsed answer, as `Reply.parsed` holds it, from the value of the prompt's output type."""

    @abstractmethod
    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], instruments: MetricBackends
    ) -> list[Verdict]:
        """What the metrics say of one assistant's replies: every probe asked has a verdict, a value or a reason."""

    @abstractmethod
    def scores(self, domain: Domain, measured: AssistantResults) -> list[Score]:
        """The leaderboard's figures of one assistant in one domain."""

    @abstractmethod
    def headline(self, metric: str) -> bool:
        """Whether a metric's figures stand in the table that a run ends with; all are in the leaderboard."""

    @abstractmethod
    def handlers(self) -> dict[str, Handler]:
        """The scripted chat's handlers for this benchmark's prompts, by prompt name."""

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        """The users' structured states; empty tables for a benchmark without states."""
        return States()

    async def keys(
        self,
        domain: Domain,
        records: Sequence[Record],
        turns: Sequence[Turn],
        annotators: Annotators | None,
    ) -> list[GoldLabel]:
        """What is right at each checkpoint, and who says so, where that is no part of making the probes. Empty for a
        benchmark whose gold is given or follows from states. Annotators are there where `annotation_prompts` are."""
        return []

    async def feedback(
        self,
        domain: Domain,
        turns: Sequence[Turn],
        probes: Sequence[Probe],
        backbone: Chat,
        simulator: Chat,
        tools: Tools,
    ) -> list[FeedbackRound]:
        """Off-policy feedback logs: the backbone answers the training cases, the simulator reacts. None, where nothing
        is learnt from being asked."""
        return []

    def plays_probes(self, domain: Domain) -> bool:
        """Whether its episodes are made of probes too: training cases that are asked while an assistant is played."""
        return False

    def rounds(self, domain: Domain, assistant: str, played: Sequence[Played]) -> list[PlayedRound]:
        """What users made of the answers in the dialogues that were led; empty where none was."""
        return []

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        """How an assistant replies on-policy; None where all replies are given."""
        return None

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> Mapping[str, frozenset[str]]:
        """Slices that figures of any benchmark are shown for besides all (recall of evidence, seconds an operation):
        their names, and the ids of their probes. None, unless it has any."""
        return {}

    def build_evolution_feedback(
        self,
        domain: Domain,
        feedback: str,
        probes: Sequence[Probe],
        replies: Sequence[Reply],
        turns: Sequence[Turn],
    ) -> str:
        """What an evolver is told of choices just answered: gold among it, so no memory may see it.

        `feedback` is one of `memories.evolving.FEEDBACK`; `turns` are the domain's. Empty without `provides_feedback`.
        """
        return ""

    def claims(self, domain: Domain, assistant: str, states: States, turns: Sequence[Turn]) -> list[Claim]:
        """What an assistant's memory should hold at each checkpoint, nothing judged yet. May be empty."""
        return []

    async def judge_claims(
        self, domain: Domain, claims: Sequence[Claim], held: Held, judge: Chat
    ) -> list[Claim]:
        """The claims with what the judge says of each, in order: a value or a reason."""
        return list(claims)

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        """The stages (state, utterance, question, feedback, memory) that ask the simulator in this domain."""
        return frozenset()

    def simulator_prompts(self) -> list[Prompt]:
        """The prompts that the simulator is asked with: their digests are part of its fingerprint."""
        return []

    def annotation_prompts(self, domain: Domain) -> list[Prompt]:
        """The prompts that the annotators are asked with for the domain's keys; none, where they are asked nothing."""
        return []

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        """The same of the judge, for `score.verdicts` and `score.claims`; none, where it is asked nothing."""
        return []

    def metric_backends(self, domain: Domain) -> frozenset[str]:
        """The instruments of metrics/instruments.py that the domain's metrics use, besides a judge."""
        return frozenset()
