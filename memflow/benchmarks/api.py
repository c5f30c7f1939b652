"""The protocol of a benchmark: the steps of the pipeline as functions from rows to rows.

A step reads published data or calls the simulator, depending on the domain. Steps send requests concurrently; the chat
limits their number. An item that fails becomes a row with a reason. spec.py describes a benchmark without its code.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import given_episodes
from memflow.benchmarks.multiple_choice import number_of
from memflow.benchmarks.training import Action, TrainingSet
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.judges.cases import JudgeCase
from memflow.memories.memory import Recall, Tools
from memflow.metrics.backends import MetricBackends
from memflow.records import (
    Change,
    Claim,
    Entity,
    FeedbackRound,
    GoldLabel,
    PlayedRound,
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
from memflow.scoring.measures import Measure, VerdictValues, mean_measures
from memflow.scoring.results import AssistantResults


@dataclass(frozen=True)
class States:
    """The state tables of a domain: users and their changing states, or the people and things in their lives."""

    profiles: list[Profile] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)


@dataclass(frozen=True)
class Annotators:
    """The two models that annotate gold labels: `first` answers and `second` verifies the answers.

    `expect(total)` announces the total number of answers of both models and returns a function to call after each
    answer.
    """

    first: Chat
    second: Chat
    expect: Callable[[int], Callable[[], None]] = lambda total: lambda: None


@dataclass(frozen=True)
class Question:
    """The prompt for a probe with its fields, and the search query for the memory."""

    prompt: Prompt
    fields: Mapping[str, Any]
    query: str


MemorySnapshots = Mapping[tuple[str, int], str]
"""The memory state by episode and checkpoint, as text."""


class Benchmark(ABC):
    """The protocol of a benchmark. Every method gets the domain, which includes the limit on its size.

    Every benchmark implements the abstract methods. The other methods have defaults: no states, no feedback, replies
    given by the data set, and metrics computed without a judge.
    """

    name: ClassVar[str]
    """The name of its spec."""
    provides_feedback: ClassVar[bool] = False
    """Whether `build_evolution_feedback` returns feedback for memories that evolve."""
    training_actions: ClassVar[tuple[Action, ...]] = ()
    """The actions of users whose answers `memflow finetune` can train on; empty if its feedback has none."""
    judged_metrics: ClassVar[frozenset[str]] = frozenset()
    """The metrics whose values a judge decides."""
    claim_metric: ClassVar[str] = ""
    """The metric of its claims, if any."""
    independent_episodes: ClassVar[frozenset[str]] = frozenset()
    """The episodes whose questions are independent, so that intervals are over these and not over episodes."""
    aggregates_in_sql: ClassVar[bool] = False
    """Whether its scores are computed from groups of verdicts (`AssistantResults.groups`) instead of rows."""

    @abstractmethod
    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        """Return the records of a data set's files, with a reason for an invalid record.

        Raises BadInput for a wrong file format. Later steps receive all records of a domain's data sets.
        """

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        """Return the number of items in a data set's records by unit, and the quarantined items of valid records."""
        return Contents({"records": len(records)})

    @abstractmethod
    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        """Return the messages of all episodes in order, without the replies that assistants generate later."""

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
        """Return the questions with their gold: test probes, and training cases if the benchmark has feedback."""

    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
        probes: Sequence[Probe] = (),
    ) -> list[Episode]:
        """Return the episodes to play. An episode comes after the episode that it is based on.

        `probes` are passed only if `plays_probes` returns true. The default is an episode per episode id of the turns,
        for data sets that give all replies.
        """
        return given_episodes(turns)

    @abstractmethod
    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        """Return the prompt and the search query for `probe`, given the recalled entries.

        `gold_context` is passed for the memories `oracle` and `previous` only. `Question.query` must not depend on
        `recall`, because the query is computed before recall.
        """

    def parse(self, probe: Probe, value: Any) -> str:
        """Convert an answer of the prompt's output type to `Reply.parsed`; the default is for multiple choice."""
        return number_of(value)

    @abstractmethod
    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        """Return the verdicts on one assistant's replies: at least one per probe, each with a value or a reason."""

    @abstractmethod
    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        """Return the scores of one assistant in one domain. Every metric must be in the catalog."""

    def population(self, groups: Sequence[Group]) -> Any:
        """Return the reference values that scale an assistant's scores, such as minimum and maximum over assistants.

        `groups` has the verdict groups of all assistants in the domain with the same chat model; it is empty if the
        benchmark does not aggregate in SQL.
        """
        return None

    @abstractmethod
    def handlers(self) -> dict[str, Handler]:
        """Return the scripted chat's handlers for this benchmark's prompts, by prompt name."""

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        """Return the users' structured states, or empty tables if the benchmark has none."""
        return States()

    async def gold_labels(
        self,
        domain: Domain,
        records: Sequence[Record],
        turns: Sequence[Turn],
        annotators: Annotators | None,
    ) -> list[GoldLabel]:
        """Return the gold labels per checkpoint; empty if probes contain the gold or if gold follows from states.

        `annotators` are passed if `annotation_prompts` returns any prompt.
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
        """Return off-policy feedback: the backbone answers the training cases and the simulated users react."""
        return []

    def size(self, domain: Domain, records: Sequence[Record]) -> int | None:
        """Return how many units (`BenchmarkSpec.unit`) the domain has without its limit; None if this is unknown.

        This method is called only for a domain with a limit, to report how many units are missing.
        """
        return None

    def left_out(self, domain: Domain, records: Sequence[Record]) -> str | None:
        """Return a text on what a sample leaves out of the history of its units; None if it leaves out nothing.

        The text is part of the label of the sample's results, and starts with "without".
        """
        return None

    def has_previous_state(self, domain: Domain) -> bool:
        """Return whether the gold can change in the domain. If so, probes have `previous`, the gold before a change."""
        return False

    def plays_probes(self, domain: Domain) -> bool:
        """Return whether the assistant answers probes (training cases) within its episodes."""
        return False

    def rounds(self, domain: Domain, assistant: str, played: Sequence[PlayedEpisode]) -> list[PlayedRound]:
        """Return the users' reactions to the answers in played dialogues; empty if the benchmark has no reactions."""
        return []

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        """Return the function that generates on-policy replies, or None if the data set gives all replies."""
        return None

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> Mapping[str, frozenset[str]]:
        """Return named sets of probe ids to score separately, in addition to `all`."""
        return {}

    def compared_slices(self, domain: Domain, probes: Sequence[Probe]) -> Mapping[str, frozenset[str]]:
        """Return the probe ids of each slice in which assistants are compared, `all` first.

        The slices have the names and probes of the slices of `scores`.
        """
        return {"all": frozenset(probe.probe_id for probe in probes), **self.slices(domain, probes)}

    def measures(self, domain: Domain, values: VerdictValues) -> Iterable[Measure]:
        """Return what assistants are compared under. The default is every primary metric that verdicts have."""
        return mean_measures(self.name, values, self.compared_slices(domain, values.probes))

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
        return ""

    def claims(self, domain: Domain, assistant: str, states: States, turns: Sequence[Turn]) -> list[Claim]:
        """Return the facts that an assistant's memory should contain at each checkpoint, without verdicts.

        The claims of an episode are consecutive.
        """
        return []

    async def judge_claims(
        self, domain: Domain, claims: Sequence[Claim], snapshots: MemorySnapshots, judge: Chat
    ) -> list[Claim]:
        """Return the claims in order, each with the judge's value or with a reason."""
        return list(claims)

    def training_set(
        self, feedback: Sequence[FeedbackRound], probes: Sequence[Probe], action: Action
    ) -> TrainingSet:
        """Return the training examples of an adapter, built from the feedback of a domain.

        `action` is one of `training_actions`. Raises BadInput if the feedback contains test cases.
        """
        return TrainingSet(action, (), (), {})

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        """Return the stages that call the simulator in this domain: state, utterance, question, feedback or memory."""
        return frozenset()

    def simulator_prompts(self) -> list[Prompt]:
        """Return the simulator's prompts. Their digests are part of the simulator's fingerprint."""
        return []

    def annotation_prompts(self, domain: Domain) -> list[Prompt]:
        """Return the annotators' prompts for the domain's gold labels; empty if no annotator is called."""
        return []

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        """Return the judge's prompts for the table `score.verdicts` or `score.claims`; empty if no judge is called."""
        return []

    def judge_cases(self) -> Sequence[JudgeCase]:
        """Return the cases of the injection test for the judge's prompts; empty if no judge is called."""
        return ()

    def metric_backends(self, domain: Domain) -> frozenset[str]:
        """Return the metric backends (metrics/backends.py) that the domain's metrics use, without the judge."""
        return frozenset()
