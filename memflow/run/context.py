"""The input of a pipeline step: its partition, the rows of its inputs, the models, progress and a clock.

memflow/pipeline.py lists the steps. resources/steps.py provides rows and models from the lake and model servers,
dry_run.py from memory and counting chats.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from memflow.benchmarks.api import Benchmark, States
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.chat.requests import Chat
from memflow.errors import MemflowError
from memflow.memories.memory import Embedder, Tools
from memflow.memories.registry import MemoryConfig
from memflow.metrics.backends import MetricBackends
from memflow.records import Entry, Probe
from memflow.run.unasked import search_text
from memflow.timing import Clock

Tables = Mapping[str, Iterable[Any]]
"""Rows by table. A large table is an iterator, whose rows exist only while they are written."""
JUDGED = ("score.verdicts", "score.claims")
"""The tables whose values judges decide (`Benchmark.judge_prompts`)."""
STATES = ("state.profiles", "state.variables", "state.changes", "state.entities")
"""The tables of `States`, in the order of its fields."""


class ModelProvider(Protocol):
    """The protocol that provides the models of one step. A model is opened on first use."""

    async def role(self, role: str) -> Chat:
        """Return the chat model of a role: simulator, backbone, annotator, verifier or judge (the first judge)."""

    async def judges(self, domain: str) -> Mapping[str, Chat]:
        """Return the judges of a domain by the name of their model."""

    async def answering(self, assistant: str) -> Chat:
        """Return the chat model that answers for an assistant."""

    async def tools(self, assistant: str) -> Tools:
        """Return the chat model, the embedder and the context window of an assistant's memory."""

    async def embedder(self) -> Embedder:
        """Return the configured embedder."""

    def expect(self, total: int) -> Callable[[], None]:
        """Set the number of items of the step, for the progress bar. Return a function to call after each item."""


class EntrySearch(Protocol):
    """The protocol of a search over the entries of one assistant, as of any sequence number."""

    def __call__(self, episode: str, sequence: int, query: str | Sequence[float], k: int) -> list[str]:
        """Return the ids of the best `k` current entries for a text or a vector, best first."""


class StepContext:
    """The context of one step on one partition.

    The scope of the step determines the attributes: `dataset` and `files` for a data set, `domain` for a domain, also
    `assistant` and `memory` for an assistant.
    """

    dataset: Dataset
    files: Mapping[str, Path]
    benchmark: Benchmark
    domain: Domain
    assistant: str
    memory: MemoryConfig
    metric_backends: Callable[[Mapping[str, Chat]], MetricBackends]
    index: Callable[[Sequence[Entry]], AbstractContextManager[EntrySearch]]
    """Indexes entries, for the searches of one step."""
    calibrates: bool = True
    """Whether judges are calibrated."""
    later_probes: Sequence[Probe] = ()
    """The test probes that the same run asks after play: their queries check restored memories."""

    def __init__(
        self,
        models: ModelProvider,
        read: Callable[[str, bool, Collection[str] | None], Iterable[Any]],
        inputs: Mapping[str, bool],
        clock: Clock | None = None,
        **partition: Any,
    ) -> None:
        self.models = models
        self.clock = clock
        self._read = read
        self._inputs = inputs
        self.__dict__.update(partition)

    def rows(self, table: str, *, vectors: bool = True) -> list[Any]:
        """Return the rows of an input table; empty if the step does not read the table for this partition.

        Without `vectors`, the vectors of entries may be missing. Raises KeyError for a table that is not an input of
        the step, since its fingerprint would not cover the rows.
        """
        return list(self.stream(table, vectors=vectors))

    def stream(
        self, table: str, *, vectors: bool = True, episodes: Collection[str] | None = None
    ) -> Iterator[Any]:
        """Return an iterator over the rows of an input table, which may be larger than memory. Raises like `rows`.

        With `episodes`, the rows of other episodes may be missing.
        """
        return iter(self._read(table, vectors, episodes) if self._inputs[table] else ())

    def states(self) -> States:
        """Return the rows of the domain's state tables."""
        return States(*(self.rows(table) for table in STATES))

    def test_probes(self) -> list[Probe]:
        """Return the probes of split `test`, which every assistant answers."""
        return [probe for probe in self.stream("question.probes") if probe.split == "test"]

    def query(self, probe: Probe) -> str:
        """Return the text that a memory is read with for a probe."""
        try:
            return search_text(self.benchmark, self.domain, probe)
        except (MemflowError, KeyError):
            return probe.question  # its reply has the reason
