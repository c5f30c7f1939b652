"""The planned runs of `memflow run`, one Dagster run per partition: the request, the plan, and the results.

pipeline.py executes the planned runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.assets.fingerprints import ALL, Fingerprints
from memflow.benchmarks.datasets import Dataset
from memflow.errors import MissingData
from memflow.pipeline import (
    CALIBRATIONS,
    JOBS,
    RETRIEVAL_ONLY,
    RETRIEVAL_ONLY_JOB,
    WRITERS,
    Scope,
    partition_key,
    tables_of,
)
from memflow.records import Drift, Score
from memflow.repeats import plain_name
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings


@dataclass(frozen=True)
class RunRequest:
    """The request of `memflow run`: the domains and assistants to materialize.

    `force` reruns up-to-date partitions (from the ledger); at most `parallel`
    partitions run at once.
    """

    domains: Sequence[str]
    assistants: Sequence[str]
    force: bool = False
    parallel: int = 1
    retrieval_only: Sequence[tuple[str, str]] = ()
    """Domains and assistants whose retrieval is measured without answers."""


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """One planned Dagster run: the job of a pipeline scope on one partition.

    The run is skipped if all runs in `after` failed.
    """

    scope: Scope
    partition: str | None = None
    """The data set or the domain; None for the scope `all`."""
    assistant: str = ""
    after: tuple["PlannedRun", ...] = ()
    retrieval_only: bool = False
    """Whether nothing is answered: a domain then needs no calibrated judges."""

    @property
    def job(self) -> str:
        """The name of the Dagster job that executes the run."""
        if self.retrieval_only and self.assistant:
            return RETRIEVAL_ONLY_JOB
        return JOBS[self.scope][0]

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the run writes."""
        if self.retrieval_only and self.assistant:
            return RETRIEVAL_ONLY
        return tuple(
            table for table in tables_of(self.scope) if not (self.retrieval_only and table == CALIBRATIONS)
        )

    @property
    def domain(self) -> str:
        """The domain of the partition; empty for a data set and for the scope `all`."""
        return (self.partition or "") if self.scope != "dataset" else ""

    @property
    def name(self) -> str:
        """The job and its partition as text, such as `evaluate_memory DOMAIN · full`."""
        return f"{self.job} {' · '.join(filter(None, (self.partition, self.assistant)))}".strip()


@dataclass
class Outcome:
    """The result of `run_pipeline`: the planned runs, grouped by their results.

    `failed` has (run, reason) pairs, `skipped` the runs after a failed one, `missing` the missing data sets by domain,
    `runs` the ids of Dagster runs, and `usage` their usage by stage and role (as UsageRow).
    """

    ran: list[PlannedRun] = field(default_factory=list)
    up_to_date: list[PlannedRun] = field(default_factory=list)
    failed: list[tuple[PlannedRun, str]] = field(default_factory=list)
    skipped: list[PlannedRun] = field(default_factory=list)
    missing: dict[str, list[Dataset]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    drift: list[Drift] = field(default_factory=list)
    """The drift after the changes that this run was the first to publish."""
    usage: list[dict[str, Any]] = field(default_factory=list)
    failed_requests: dict[str, int] = field(default_factory=dict)
    """By planned run: failed requests that the next run sends again."""
    damaged: dict[str, list[str]] = field(default_factory=dict)
    """By planned run: the tables whose damaged files made it stale."""
    restored: list[str] = field(default_factory=list)
    """Outputs for other programs that were missing or damaged, and are rebuilt from the lake."""
    left_out: list[str] = field(default_factory=list)
    """Partitions that the leaderboard leaves out, because one of their files is damaged."""

    @property
    def rebuilt(self) -> dict[str, list[str]]:
        """The damaged tables that a run has rebuilt, by the run's name; runs without any are omitted."""
        return {run.name: self.damaged[run.name] for run in self.ran if run.name in self.damaged}

    @property
    def complete(self) -> tuple[list[str], list[str]]:
        """The names of domains, and of assistants, of which every planned run succeeded or was up to date."""
        incomplete = [*(run for run, _ in self.failed), *self.skipped]

        def names(attribute: str) -> list[str]:
            without = {"", *(getattr(run, attribute) for run in incomplete)}
            every = dict.fromkeys(getattr(run, attribute) for run in (*self.ran, *self.up_to_date))
            return [name for name in every if name not in without]

        return names("domain"), names("assistant")

    @property
    def evaluated(self) -> set[tuple[str, str]]:
        """The (domain, assistant) pairs of current results in the leaderboard; empty if it was not published."""
        available = [*self.ran, *self.up_to_date]
        if not any(run.scope == "all" for run in available):
            return set()
        return {
            (run.domain, run.assistant)
            for run in available
            if run.scope == "domain x assistant" and not run.retrieval_only
        }

    @property
    def retrieved(self) -> set[str]:
        """The partitions whose retrieval was measured, or is up to date."""
        available = (*self.ran, *self.up_to_date)
        return {
            partition_key(run.domain, run.assistant)
            for run in available
            if run.retrieval_only and run.assistant
        }


def failed_requests(lake: Lake, planned: Sequence[PlannedRun]) -> dict[str, int]:
    """Return the number of failed requests behind the tables of each planned run with failures, by run name.

    Tables of the same stage have the same number.
    """
    failures: dict[str, int] = {}
    for run in planned:
        by_stage: dict[str, int] = {}
        for table in run.tables:
            facts = lake.intact_facts(table, partition_key(run.partition or ALL, run.assistant))
            stage = WRITERS[table].stage
            by_stage[stage] = max(by_stage.get(stage, 0), facts.failed_requests if facts else 0)
        if number := sum(by_stage.values()):
            failures[run.name] = number
    return failures


def plan_runs(
    settings: Settings, request: RunRequest, fingerprints: Fingerprints, outcome: Outcome
) -> list[PlannedRun]:
    """Return the planned runs in the order of their dependencies.

    Missing data sets are recorded in `outcome`; a domain without any data set counts as failed.

    Raises MissingData if no domain has a data set.
    """
    ingested: dict[str, PlannedRun] = {}
    generated: list[PlannedRun] = []
    evaluated: list[PlannedRun] = []
    names = dict.fromkeys((*request.domains, *(domain for domain, _ in request.retrieval_only)))
    for domain in map(settings.domain, names):
        try:
            available, missing = fingerprints.library.datasets_of(domain)
        except MissingData as error:
            if len(outcome.failed) + 1 == len(names):
                raise
            outcome.failed.append((PlannedRun("domain", domain.name), str(error)))
            continue
        if missing:
            outcome.missing[domain.name] = missing
        after = tuple(
            ingested.setdefault(dataset.name, PlannedRun("dataset", dataset.name)) for dataset in available
        )
        alone = domain.name not in request.domains or not request.assistants
        generated.append(PlannedRun("domain", domain.name, after=after, retrieval_only=alone))
        evaluated += [
            PlannedRun("domain x assistant", domain.name, name, (generated[-1],), retrieval_only=True)
            for name in (name for of, name in request.retrieval_only if of == domain.name)
        ]
        first_evaluations: dict[str, PlannedRun] = {}
        for name in request.assistants if domain.name in request.domains else ():
            first = first_evaluations.get(plain_name(name), generated[-1])
            run = PlannedRun("domain x assistant", domain.name, name, (first,))
            first_evaluations.setdefault(name, run)
            evaluated.append(run)
    runs = [*ingested.values(), *generated, *evaluated]
    if request.retrieval_only and not request.assistants:  # retrieval has no scores on the leaderboard
        return runs
    return [*runs, PlannedRun("all", after=tuple(evaluated))]
