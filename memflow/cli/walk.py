"""The walk from the command line: Dagster's own jobs, a run per partition, on the instance that the UI shows.

Partitions that are up to date are left alone. A partition that fails is reported and the rest goes on. What is shown
while it runs is progress.py; which partitions are asked for, selection.py.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol

import dagster as dg

from assets.definitions import build_defs, outside
from assets.partitions import pair
from assets.recipes import Recipes
from memflow.datasets import Dataset
from memflow.records import Figure
from resources.instance import Opened, open_instance
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
    outcome = Outcome()
    legs = _legs(settings, order, recipes, outcome)
    definitions = build_defs(settings, hands)
    watcher.begin(len(legs))
    try:
        with open_instance(settings.home) as opened:
            for leg in legs:
                watcher.leg(leg)
                if not order.again and leg.fresh():
                    outcome.kept.append(leg)
                    watcher.end_leg(leg, "up to date")
                    continue
                wrong = _run(definitions, leg, opened, outcome)
                watcher.end_leg(leg, wrong or "done")
        outcome.figures = recipes.lake.read("score.leaderboard", "all")
        outcome.accounts = _accounts(models.ledger, set(outcome.runs))
    finally:
        models.close()
    return outcome


def _legs(settings: Settings, order: Order, recipes: Recipes, outcome: Outcome) -> list[Leg]:
    """The runs, in order; data sets that cannot be read are noted. Raises MissingData where a domain has none."""
    domains = [settings.domain(name).limited(order.limit) for name in order.domains]
    datasets: dict[str, None] = {}
    for domain in domains:
        found, lacking = recipes.library.of(domain)
        datasets.update(dict.fromkeys(each.name for each in found))
        if lacking:
            outcome.missing[domain.name] = lacking
    return [
        *(Leg("read_datasets", name, partial(recipes.read, name)) for name in datasets),
        *(
            Leg("build_users", domain.name, partial(recipes.built, domain), _limits(order.limit))
            for domain in domains
        ),
        *(
            Leg("measure_memories", pair(domain.name, name), partial(recipes.measured, domain.name, name))
            for domain in domains
            for name in order.assistants
        ),
        Leg("publish_scores", None, recipes.published),
    ]


def _limits(limit: int) -> dict[str, Any]:
    return {
        name: {"config": {"limit": limit}}
        for name in ("states", "utterance__turns", "question__probes", "feedback__sessions")
    }


def _run(definitions: dg.Definitions, leg: Leg, opened: Opened, outcome: Outcome) -> str:
    """Run a leg; the reason when it fails."""
    result = definitions.resolve_job_def(leg.job).execute_in_process(
        partition_key=leg.partition,
        instance=opened.instance,
        run_config={"ops": leg.config, "loggers": QUIET},
        tags={"memflow/reason": "command line", **opened.tags},
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
