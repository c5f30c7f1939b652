"""Assets from the steps of the pipeline: keys, deps, partitions and pool, and the run of a step on one partition.

The modules of the stages (raw.py, state.py, ...) build their assets with `StepAssets`. memflow/run/ has the steps.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import dagster as dg

from memflow.assets.automation import upstream_levels
from memflow.assets.fingerprints import Fingerprints
from memflow.assets.metadata import RowSummary, described, materialized, usage_of
from memflow.assets.partitions import Partitions, parts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import spec_of
from memflow.errors import MemflowError
from memflow.pipeline import WRITERS, Step, partition_key
from memflow.repeats import memory_name
from memflow.resources.data.library import Library
from memflow.resources.lake.facts import FAILED_REQUESTS, RUN, Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.memory_servers.declaration import UNCHECKED
from memflow.resources.models.models import Models
from memflow.resources.process import release_after_growth
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.resources.steps import StepRunner
from memflow.resources.vllm_servers.servers import VllmServers
from memflow.scoring.completeness import sample_text

UNFINISHED = "some requests failed"
"""Replaces a fingerprint where requests failed, so that the next run sends them again. Requests that would fail again
(refused or filtered by the model, longer than its context window) do not count."""


@dataclass(frozen=True)
class WrittenTable:
    """A table of a partition in the lake: its facts, and a summary of the rows that were written."""

    table: str
    facts: Facts
    summary: RowSummary

    def result(self, usage: Mapping[str, float] | None = None, **metadata: Any) -> dg.MaterializeResult:
        """Return the result of materializing the table, for Dagster."""
        return materialized(self.table, self.summary, self.facts.digest, usage, **metadata)


def write_table(
    lake: Lake, table: str, key: str, rows: Iterable[Any], fingerprint: str, meta: Mapping[str, str]
) -> WrittenTable:
    """Write the rows of a table of a partition to the lake."""
    summary = RowSummary()
    facts = lake.write(table, key, summary.observe(rows), fingerprint=fingerprint, meta=meta)
    return WrittenTable(table, facts, summary)


def nothing(*_: Any) -> Mapping[str, Any]:
    """Return no metadata; the default of tables without metadata of their own."""
    return {}


@dataclass(frozen=True)
class PartitionRun:
    """The run of a step on a domain, or on a domain and an assistant, with the resources that it uses."""

    step: Step
    domain: Domain
    assistant: str
    run_id: str
    settings: Settings
    fingerprints: Fingerprints
    lake: Lake
    data: Library
    models: Models
    warehouse: Warehouse
    asks_probes: bool
    """Whether the same run answers the probes after this step."""

    @property
    def key(self) -> str:
        """The key of the partition in the lake."""
        return partition_key(self.domain.name, self.assistant)

    def write(self, stored: "StoredMetadata" = nothing) -> dict[str, WrittenTable]:
        """Run the step, write its tables, and return them by name. `stored` returns further metadata of a table."""
        runner = StepRunner(self.settings, self.lake, self.data, self.models)
        tables = runner.run(
            self.step,
            self.run_id,
            domain=self.domain,
            assistant=self.assistant,
            asks_probes=self.asks_probes,
        )
        fingerprint = self.fingerprints.step(self.step, self.domain, self.assistant)
        meta = {RUN: self.run_id, **self.fingerprints.provenance(self.step, self.domain, self.assistant)}
        if unfinished := self.models.ledger.unfinished(self.run_id, self.step.stage):
            fingerprint = UNFINISHED
            meta[FAILED_REQUESTS] = str(unfinished)
        meta |= unchecked_memory(self.settings, self.assistant)
        written = {}
        for table in self.step.writes:  # in the order in which the step declares them
            rows = tables[table]
            meta_of_table = {**meta, **stored(self, table, rows)}
            written[table] = write_table(self.lake, table, self.key, rows, fingerprint, meta_of_table)
        return written

    def results(
        self, written: Mapping[str, WrittenTable], shown: "ShownMetadata" = nothing
    ) -> Iterator[dg.MaterializeResult]:
        """Yield the results for Dagster. `shown` returns the metadata of a table that only the UI shows."""
        usage = usage_of(self.models.ledger, self.run_id, self.step.stage)
        common = server_metadata(self.models.servers) if self.step.models else {}
        if self.domain.limit:
            unit = spec_of(self.domain.benchmark).unit
            common["sample"] = sample_text(self.domain.limit, unit, self.domain.base)
        for table in written.values():
            yield table.result(usage, **common, **shown(self, table.table))


StoredMetadata = Callable[[PartitionRun, str, Iterable[Any]], Mapping[str, str]]
ShownMetadata = Callable[[PartitionRun, str], Mapping[str, Any]]


@dataclass(frozen=True)
class StepAssets:
    """The factory of the assets of pipeline steps, for the settings of a code location."""

    settings: Settings
    partitions: Partitions
    fingerprints: Fingerprints

    def multi_asset(
        self,
        step: Step,
        condition: dg.AutomationCondition | None = None,
        kinds: tuple[str, ...] = ("parquet", "duckdb"),
    ) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
        """Return Dagster's decorator for the assets of a step, with an automation condition for the first table.

        The tables of a step have the same inputs, and Dagster requests all of them with the first, so that further
        conditions would only cost evaluation time.
        """
        first = next(iter(step.writes))
        pool = dict(reversed(self.settings.roles.assigned()))[step.models[0]] if step.models else None
        assets = dg.multi_asset(
            name=step.name,
            description=step.description,
            specs=[
                dg.AssetSpec(
                    **described(table, remark, kinds=kinds),
                    deps=self._deps(step),
                    automation_condition=condition if table == first else None,
                )
                for table, remark in step.writes.items()
            ],
            partitions_def=self.partitions.of_scope(step.scope),
            pool=pool and f"model_{pool}",
        )
        return lambda body: assets(with_reason(body))

    def of_partitions(
        self,
        table: str,
        condition: dg.AutomationCondition | None,
        *,
        kinds: tuple[str, ...] = ("parquet", "duckdb"),
        stored: StoredMetadata = nothing,
        shown: ShownMetadata = nothing,
    ) -> dg.AssetsDefinition:
        """Return the assets of the step that writes a table once per domain, or per domain and assistant."""
        step = WRITERS[table]

        @self.multi_asset(step, condition, kinds)
        def assets(
            context: dg.AssetExecutionContext,
            lake: dg.ResourceParam[Lake],
            data: dg.ResourceParam[Library],
            models: dg.ResourceParam[Models],
            warehouse: dg.ResourceParam[Warehouse],
        ) -> Iterator[dg.MaterializeResult]:
            domain, assistant = parts(context)
            run = PartitionRun(
                step=step,
                domain=self.settings.domain(domain),
                assistant=assistant,
                run_id=context.run.run_id,
                settings=self.settings,
                fingerprints=self.fingerprints,
                lake=lake,
                data=data,
                models=models,
                warehouse=warehouse,
                asks_probes=context.job_def.has_node_named("replies"),
            )
            written = run.write(stored)
            release_after_growth()
            yield from run.results(written, shown)

        return assets

    def _deps(self, step: Step) -> list[dg.AssetDep]:
        """Return the Dagster deps of a step: its tables and models. Records are mapped from data sets to domains."""
        mappings = {
            table: self.partitions.dataset_to_domain if WRITERS[table].scope == "dataset" else None
            for table in step.inputs
        }
        tables = [
            dg.AssetDep(table.split("."), partition_mapping=mapping) for table, mapping in mappings.items()
        ]
        return [*tables, *(dg.AssetDep(key) for key in model_keys(step))]


def with_reason(body: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Return the body of an asset that fails with the sentence of a MemflowError, and not with its stack trace."""

    @wraps(body)
    def run(*arguments: Any, **resources: Any) -> Iterator[Any]:
        try:
            yield from body(*arguments, **resources)
        except MemflowError as error:
            raise dg.Failure(str(error), allow_retries=False) from error

    return run


def model_keys(step: Step) -> list[list[str]]:
    """Return the asset keys of the observed models that a step depends on."""
    keys = {
        "simulator": ("simulator", step.stage),
        "annotator": ("model", "annotators"),
        "verifier": ("model", "annotators"),
        "assistant": ("model", "assistants"),
        "judge": ("model", "judge"),
    }
    return [[*key] for key in dict.fromkeys(keys[role] for role in step.models if role in keys)]


def upstream_of(table: str) -> list[set[str]]:
    """Return the assets upstream of a table by level (`upstream_levels`): models, and one table of each step."""
    return upstream_levels(
        _asset_name(table), {_asset_name(name): _watched(WRITERS[name]) for name in WRITERS}
    )


def _watched(step: Step) -> list[str]:
    """Return the deps whose progress decides when a step runs: its models, and one table of each step before it."""
    tables = {WRITERS[table].name: table for table in reversed(step.inputs)}
    return [*map(_asset_name, tables.values()), *map("/".join, model_keys(step))]


def _asset_name(table: str) -> str:
    return table.replace(".", "/")


def server_metadata(servers: VllmServers) -> dict[str, Any]:
    """Return the facts of each vLLM server in use as `vllm NAME`, and the path of its log as `vllm NAME log`."""
    facts = servers.facts()
    values = {f"vllm {name}": dg.MetadataValue.json(of_server) for name, of_server in facts.items()}
    logs = {f"vllm {name} log": dg.MetadataValue.path(of_server["log"]) for name, of_server in facts.items()}
    return values | logs


def unchecked_memory(settings: Settings, assistant: str) -> dict[str, str]:
    """Return the mark `memory_check` of an assistant whose memory server runs without a check; empty for others."""
    own = settings.memories.get(memory_name(assistant))
    return {"memory_check": UNCHECKED} if own is not None and own.is_server and own.unchecked else {}
