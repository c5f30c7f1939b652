"""The execution of a pipeline step: reads the rows of its inputs from the lake and returns the rows of its tables.

assets/step_assets.py writes the rows and reports them to Dagster.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.pipeline import WRITERS, Step, partition_key
from memflow.records import Probe, Record
from memflow.repeats import plain_name, shares, source_of
from memflow.resources.data.library import Library
from memflow.resources.indexes.lance import searchable
from memflow.resources.indexes.search import check_stored_embedder
from memflow.resources.lake.lake import Lake
from memflow.resources.metric_backends.backends import build_metric_backends
from memflow.resources.models.chats import Chats
from memflow.resources.models.models import Models
from memflow.resources.settings.settings import Settings
from memflow.run.context import StepContext, Tables


@dataclass(frozen=True)
class StepRunner:
    """An executor of pipeline steps, with the models of the settings and the tables of the lake."""

    settings: Settings
    lake: Lake
    library: Library
    models: Models

    def run(
        self,
        step: Step,
        run_id: str,
        *,
        dataset: str = "",
        domain: Domain | None = None,
        assistant: str = "",
        asks_probes: bool = False,
    ) -> Tables:
        """Return the rows of a step's tables for one data set, for one domain, or for one domain and assistant.

        With `asks_probes`, the same run asks the probes after this step, and play checks restored memories with them.
        Of the tables that a repeat shares with the first evaluation, it copies the replies and leaves the others empty.
        """
        if domain is not None and shares(assistant, step.writes):
            return {table: self._copied(table, domain, assistant) for table in step.writes}
        calls_models = False
        partition: dict[str, Any] = {}
        inputs: Mapping[str, bool] = dict.fromkeys(step.inputs, True)
        if dataset:
            published = self.library.dataset(dataset)
            partition |= {
                "dataset": published,
                "files": self.library.paths(published),
                "benchmark": registry.benchmark(published.benchmark),
            }
        if domain is not None:
            benchmark = registry.benchmark(domain.benchmark)
            memory = self.settings.memory_of(assistant) if assistant else None
            inputs = step.inputs_of(benchmark, domain, memory)
            calls_models = step.calls_models(benchmark, domain)
            if step.on_request:  # it searches stored vectors
                check_stored_embedder(self.settings, self.lake, domain.name, assistant)
            partition |= {
                "benchmark": benchmark,
                "calibrates": self.settings.calibrates(domain.name),
                "domain": domain,
                "assistant": assistant,
                "memory": memory,
                "index": searchable,
                "later_probes": self._test_probes(domain) if asks_probes and step.name == "memories" else (),
                "metric_backends": partial(
                    build_metric_backends, self.settings, benchmark.metric_backends(domain)
                ),
            }

        def read(table: str, vectors: bool, episodes: Collection[str] | None) -> Iterable[Any]:
            return self._read(table, vectors, episodes, domain, assistant)

        async def work(chats: Chats) -> Tables:
            if domain is not None:
                chats.decoding = domain.decoding
            return await step.run(StepContext(chats, read, inputs, perf_counter, **partition))

        name = domain.name if domain else ""
        context = RequestContext(run=run_id, stage=step.stage, domain=name, assistant=assistant)
        return self.models.run(context, work, shared=calls_models)

    def _test_probes(self, domain: Domain) -> list[Probe]:
        return [probe for probe in self.lake.read("question.probes", domain.name) if probe.split == "test"]

    def _read(
        self,
        table: str,
        vectors: bool,
        episodes: Collection[str] | None,
        domain: Domain | None,
        assistant: str,
    ) -> Iterable[Any]:
        if domain is None:
            return self.lake.read_all(table, self.lake.partitions(table))
        if WRITERS[table].scope == "dataset":
            return self._records(domain)
        of_assistant = WRITERS[table].scope == "domain x assistant"
        key = partition_key(domain.name, source_of(table, assistant) if of_assistant else "")
        return self.lake.stream(table, key, vectors=vectors, episodes=episodes)

    def _copied(self, table: str, domain: Domain, assistant: str) -> Iterable[Any]:
        """Return the rows of a table that a repeat shares: replies under its name, and nothing for other tables."""
        if table != "answer.replies":
            return ()
        replies = self.lake.stream(table, partition_key(domain.name, plain_name(assistant)))
        return (replace(reply, assistant=assistant) for reply in replies)

    def _records(self, domain: Domain) -> list[Record]:
        """Return the records of the domain's data sets that are in the lake. Raises MissingData if there are none."""
        available = set(self.lake.partitions("raw.records"))
        found = [name for name in domain.datasets if name in available]
        return self.lake.read_all("raw.records", found or domain.datasets)
