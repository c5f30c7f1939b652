"""The walk from the command line: Dagster's own jobs, a run per partition, on the instance that the UI shows.

Partitions that are up to date are left alone. A partition that fails is reported and the rest goes on. What is shown
while it runs is progress.py; which partitions are asked for, selection.py.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import dagster as dg

from assets.definitions import build_defs, outside
from assets.partitions import pair, place
from assets.recipes import BY_ASSISTANT, BY_DOMAIN, Recipes
from memflow.datasets import DATASETS, Dataset
from memflow.domains import Domain
from memflow.errors import MissingData
from memflow.records import Figure
from resources.instance import open_instance
from resources.ledger import SqlLedger
from resources.settings import Settings

QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


@dataclass(frozen=True)
class Order:
    """What to run. `limit` cuts every domain; `again` runs what is up to date as well (from the ledger)."""

    domains: Sequence[str]
    assistants: Sequence[str]
    limit: int = 0
    again: bool = False


@dataclass(frozen=True)
class Leg:
    """One run: a job on a partition."""

    job: str
    partition: str | None
    fresh: Callable[[], bool]
    config: dict[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """What came of a walk."""

    ran: list[Leg] = field(default_factory=list)
    kept: list[Leg] = field(default_factory=list)
    failed: list[tuple[Leg, str]] = field(default_factory=list)
    missing: dict[str, list[Dataset]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    accounts: list[dict[str, Any]] = field(default_factory=list)


class Watcher(Protocol):
    """Told how the walk goes."""

    def begin(self, legs: int) -> None: ...
    def leg(self, leg: Leg) -> None: ...
    def step(self, name: str, done: int, total: int) -> None: ...
    def end_leg(self, leg: Leg, what: str) -> None: ...


def walk(settings: Settings, order: Order, watcher: Watcher, budget: Any = None) -> Outcome:
    """Materialize what `order` asks for, in the order of the walk."""
    hands = outside(settings, budget)
    models, recipes = hands["models"], hands["recipes"]
    models.watch = lambda account, done, total: watcher.step(account.stage, done, total)
    outcome = Outcome(missing=_missing(settings, order, hands["library"]))
    definitions = build_defs(settings, hands)
    legs = _legs(settings, order, recipes)
    watcher.begin(len(legs))
    try:
        with open_instance(settings.home) as instance:
            for leg in legs:
                watcher.leg(leg)
                if not order.again and leg.fresh():
                    outcome.kept.append(leg)
                    watcher.end_leg(leg, "up to date")
                    continue
                wrong = _run(definitions, leg, instance, outcome)
                watcher.end_leg(leg, wrong or "done")
        outcome.figures = recipes.lake.read("score.leaderboard", "all")
        outcome.accounts = _accounts(models.ledger, set(outcome.runs))
    finally:
        models.close()
    return outcome


def _missing(settings: Settings, order: Order, library: Any) -> dict[str, list[Dataset]]:
    """The data sets of each domain that cannot be read. Raises MissingData where none of a domain's can."""
    missing = {}
    for name in order.domains:
        wanted = [DATASETS[dataset] for dataset in settings.domain(name).datasets]
        lacking = [dataset for dataset in wanted if not (dataset.readable and library.found(dataset))]
        if len(lacking) == len(wanted):
            ways = " ".join(dataset.how for dataset in lacking)
            raise MissingData(
                f"{name}: none of its data sets is there. {ways} Then set MEMFLOW_DATA to that folder."
            )
        if lacking:
            missing[name] = lacking
    return missing


def _legs(settings: Settings, order: Order, recipes: Recipes) -> list[Leg]:
    domains = [settings.domain(name).limited(order.limit) for name in order.domains]
    lacking = {
        dataset.name for each in _missing(settings, order, recipes.library).values() for dataset in each
    }
    datasets = dict.fromkeys(name for domain in domains for name in domain.datasets if name not in lacking)
    return [
        *(Leg("read_datasets", name, _fresh_raw(recipes, name)) for name in datasets),
        *(
            Leg("build_users", domain.name, _fresh_domain(recipes, domain), _limits(order.limit))
            for domain in domains
        ),
        *(
            Leg(
                "measure_memories", pair(domain.name, assistant), _fresh_pair(recipes, domain.name, assistant)
            )
            for domain in domains
            for assistant in order.assistants
        ),
        Leg(
            "publish_scores",
            None,
            lambda: _recipe(recipes, "score.leaderboard", "all") == recipes.leaderboard(),
        ),
    ]


def _limits(limit: int) -> dict[str, Any]:
    return {
        name: {"config": {"limit": limit}}
        for name in ("states", "utterance__turns", "question__probes", "feedback__sessions")
    }


def _recipe(recipes: Recipes, table: str, partition: str) -> str | None:
    facts = recipes.lake.facts(table, partition)
    return None if facts is None else facts.recipe


def _fresh_raw(recipes: Recipes, dataset: str) -> Callable[[], bool]:
    return lambda: _recipe(recipes, "raw.records", dataset) == recipes.raw(dataset)


def _fresh_domain(recipes: Recipes, domain: Domain) -> Callable[[], bool]:
    return lambda: all(
        _recipe(recipes, table, domain.name) == recipes.domain(table, domain) for table in BY_DOMAIN
    )


def _fresh_pair(recipes: Recipes, domain: str, assistant: str) -> Callable[[], bool]:
    return lambda: all(
        _recipe(recipes, table, place(domain, assistant)) == recipes.assistant(table, domain, assistant)
        for table in BY_ASSISTANT
    )


def _run(definitions: dg.Definitions, leg: Leg, instance: dg.DagsterInstance, outcome: Outcome) -> str:
    """Run a leg; the reason when it fails."""
    result = definitions.resolve_job_def(leg.job).execute_in_process(
        partition_key=leg.partition,
        instance=instance,
        run_config={"ops": leg.config, "loggers": QUIET},
        tags={"memflow/reason": "command line"},
        raise_on_error=False,
    )
    outcome.runs.append(result.run_id)
    if result.success:
        outcome.ran.append(leg)
        return ""
    reason = _reason(result)
    outcome.failed.append((leg, reason))
    return reason


def _reason(result: dg.ExecuteInProcessResult) -> str:
    """The innermost error of the first step that failed."""
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                return f"{event.step_key}: {error.message.strip()}"
    return "the run failed; its page in the UI says why"


def _accounts(ledger: SqlLedger, runs: set[str]) -> list[dict[str, Any]]:
    """The accounts of these runs, by stage and role."""
    summed: dict[tuple[str, str], Counter[str]] = {}
    for row in ledger.accounts(("run", "stage", "role")):
        if row.by["run"] in runs:
            numbers = {name: value for name, value in asdict(row).items() if name != "by"}
            summed.setdefault((row.by["stage"], row.by["role"]), Counter()).update(numbers)
    return [{"stage": stage, "role": role, **numbers} for (stage, role), numbers in summed.items()]


def duckdb_path(settings: Settings) -> Path:
    """Where memflow.duckdb is published."""
    return settings.home / "memflow.duckdb"
