"""The protocol of a benchmark: the steps of the pipeline as functions from rows to rows.

A step reads published data or calls the simulator, depending on the domain. Steps send requests concurrently; the chat
limits their number. An item that fails becomes a row with a reason. spec.py describes a benchmark without its code.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.defaults import Annotation, Judging, SampleSize, ScoreAggregation, Simulation
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import number_of
from memflow.benchmarks.step_values import Question, States
from memflow.benchmarks.verdicts import choice_verdicts
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.memories.memory import Recall
from memflow.metrics.backends import MetricBackends
from memflow.records import GoldLabel, Probe, Record, Reply, Score, Turn, Verdict
from memflow.scoring.results import AssistantResults


class Benchmark(SampleSize, Simulation, Annotation, Judging, ScoreAggregation, ABC):
    """The protocol of a benchmark. Every method gets the domain, which includes the limit on its size.

    Every benchmark implements the abstract methods. The optional methods are in groups (defaults.py) with defaults: no
    states, replies given by the data set, and metrics computed without a judge. What only some benchmarks can do is a
    capability (capabilities.py): feedback, evolution, claims.
    """

    name: ClassVar[str]
    """The name of its spec."""

    @abstractmethod
    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        """Return the records of a data set's files, with a reason for an invalid record.

        Raises BadInput for a wrong file format. Later steps receive all records of a domain's data sets.
        """

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

    @abstractmethod
    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        """Return the prompt and the search query for `probe`, given the recalled entries.

        `gold_context` is passed for the memories `oracle` and `previous` only. `Question.query` must not depend on
        `recall`, because the query is computed before recall.
        """

    def parse(self, probe: Probe, value: Any) -> str:
        """Convert an answer of the prompt's output type to `Reply.parsed`; the default is for multiple choice."""
        return number_of(value)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        """Return the verdicts on one assistant's replies: at least one per probe, each with a value or a reason.

        The default is for multiple choice.
        """
        return choice_verdicts(domain, probes, replies)

    @abstractmethod
    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        """Return the scores of one assistant in one domain. Every metric must be in the catalog."""

    @abstractmethod
    def handlers(self) -> dict[str, Handler]:
        """Return the scripted chat's handlers for this benchmark's prompts, by prompt name."""
