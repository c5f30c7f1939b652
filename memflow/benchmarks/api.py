"""What the code of a benchmark implements: the steps of the pipeline, each from rows to rows.

A step reads what the data set publishes or lets the simulator generate it, as the domain states. Steps send requests
concurrently; the chat bounds them. A failed item is a row with its reason. What is known without the code: spec.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.training import Action, TrainingSet
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
from memflow.run.play import Episode, PlayedEpisode, Replier
from memflow.scoring.groups import Group
from memflow.scoring.metric import Metric


@dataclass(frozen=True)
class States:
    """The state tables of a domain: users with states that change, or the people and things in their lives."""

    profiles: list[Profile] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)


@dataclass(frozen=True)
class Annotators:
    """The two models that annotate gold labels: `second` verifies what `first` answered.

    `expect(total)` announces the number of answers of both and returns a function to call after each.
    """

    first: Chat
    second: Chat
    expect: Callable[[int], Callable[[], None]] = lambda total: lambda: None


@dataclass(frozen=True)
class Question:
    """How a probe is put to an assistant: its prompt with the fields, and the query that the memory is read with."""

    prompt: Prompt
    fields: Mapping[str, Any]
    query: str


MemorySnapshots = Mapping[tuple[str, int], str]
"""The memory state by episode and checkpoint, as text."""


@dataclass(frozen=True)
class AssistantResults:
    """What scores are computed from: one assistant's verdicts in one domain, beside its bounds on the same model.

    `probes` are all that need a verdict. `oracle` and `none` hold the verdicts of these two memories under the same
    chat model; empty where not run.
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
    """The judged claims about the assistant's memory; empty where there are none."""
    scripted_judge: bool = False
    policies: Sequence[Policy] = ()
    """The steps of its evolution, where it evolves."""
    groups: Sequence[Group] = ()
    """Its verdicts in groups, for a benchmark that aggregates in SQL; the rows are then empty."""
    pool: Sequence[Group] = ()
    """The groups of all assistants in the domain with the same chat model, including its own."""


class Benchmark(ABC):
    """One benchmark. Every method takes the domain, with its limit.

    Abstract methods are those that every benchmark has. The defaults of the others fit most: no states, no feedback,
    given replies, and computed metrics.
    """

    name: ClassVar[str]
    """The name of its spec."""
    provides_feedback: ClassVar[bool] = False
    """Whether `build_evolution_feedback` returns feedback for memories that evolve."""
    training_actions: ClassVar[tuple[Action, ...]] = ()
    """The actions of users whose answers `memflow finetune` can train on; empty if its feedback has none."""
    aggregates_in_sql: ClassVar[bool] = False
    """Whether its scores are computed from groups of verdicts (`AssistantResults.groups`) instead of rows."""

    @abstractmethod
    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        """Return the records of a data set's files. Raises BadInput naming the file, the record and the problem."""

    @abstractmethod
    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        """Return the messages of all episodes, in order, before anything is played."""

    @abstractmethod
    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        """Return the questions with their gold: test probes, and training cases where the benchmark has feedback."""

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
        """Return the episodes to play; a base precedes those built on it. `probes` are given if `plays_probes`."""

    @abstractmethod
    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        """Return how `probe` is put to an assistant with what was recalled.

        `gold_context` is given for the memory `oracle` only. `Question.query` must not depend on `recall`: it is the
        query that recalls.
        """

    @abstractmethod
    def parse(self, probe: Probe, value: Any) -> str:
        """Return the answer for `Reply.parsed` from a value of the prompt's output type."""

    @abstractmethod
    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        """Return the verdicts of one assistant's replies: at least one per probe, each with a value or a reason."""

    @abstractmethod
    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        """Return the scores of one assistant in one domain; each metric is in the catalog."""

    def metrics(self) -> Sequence[Metric]:
        """Return the metrics of its own, and the shared ones that are primary for it (`Metric.primary_for`)."""
        return ()

    @abstractmethod
    def handlers(self) -> dict[str, Handler]:
        """Return the scripted chat's handlers for this benchmark's prompts, by prompt name."""

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        """Return the users' structured states; empty tables for a benchmark without states."""
        return States()

    async def gold_labels(
        self,
        domain: Domain,
        records: Sequence[Record],
        turns: Sequence[Turn],
        annotators: Annotators | None,
    ) -> list[GoldLabel]:
        """Return the gold labels per checkpoint; empty where gold is given with the probes or follows from states.

        `annotators` are given if `annotation_prompts` returns any.
        """
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
        """Return off-policy feedback: the backbone answers the training cases, and the simulator reacts."""
        return []

    def plays_probes(self, domain: Domain) -> bool:
        """Whether its episodes contain probes: training cases that are asked while an assistant is played."""
        return False

    def rounds(self, domain: Domain, assistant: str, played: Sequence[PlayedEpisode]) -> list[PlayedRound]:
        """Return the users' reactions to the answers in played dialogues; empty where there are none."""
        return []

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        """Return how an assistant replies on-policy; None where all replies are given."""
        return None

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> Mapping[str, frozenset[str]]:
        """Return the slices, besides `all`, of the scores that every benchmark has: names and ids of their probes."""
        return {}

    def build_evolution_feedback(
        self,
        domain: Domain,
        feedback: str,
        probes: Sequence[Probe],
        replies: Sequence[Reply],
        turns: Sequence[Turn],
    ) -> str:
        """Return the feedback on probes just answered, for a memory that evolves; it contains gold.

        `feedback` is one of `memories.evolving.FEEDBACK`; `turns` are the domain's.
        """
        return ""

    def claims(self, domain: Domain, assistant: str, states: States, turns: Sequence[Turn]) -> list[Claim]:
        """Return the facts that an assistant's memory should hold at each checkpoint, not yet judged."""
        return []

    async def judge_claims(
        self, domain: Domain, claims: Sequence[Claim], snapshots: MemorySnapshots, judge: Chat
    ) -> list[Claim]:
        """Return the claims in order, each with the judge's value or a reason."""
        return list(claims)

    def training_set(
        self, feedback: Sequence[FeedbackRound], probes: Sequence[Probe], action: Action
    ) -> TrainingSet:
        """Return the answers of a domain's feedback that an adapter is trained on. `action` is in `training_actions`.

        Raises BadInput where the feedback holds test cases.
        """
        return TrainingSet(action, (), (), {})

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        """Return the stages (state, utterance, question, feedback, memory) that call the simulator in this domain."""
        return frozenset()

    def simulator_prompts(self) -> list[Prompt]:
        """Return the simulator's prompts; their digests are part of its fingerprint."""
        return []

    def annotation_prompts(self, domain: Domain) -> list[Prompt]:
        """Return the annotators' prompts for the domain's gold labels; empty where no annotator is called."""
        return []

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        """Return the judge's prompts for `score.verdicts` or `score.claims`; empty where no judge is called."""
        return []

    def metric_backends(self, domain: Domain) -> frozenset[str]:
        """Return the metric backends (metrics/backends.py) that the domain's metrics use, besides a judge."""
        return frozenset()
