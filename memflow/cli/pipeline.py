"""The walk from the command line: Dagster's own jobs, a run per partition, on the instance that the UI shows.

Partitions that are up to date are left alone. A partition that fails is reported, what is made from it is left out, and
the rest goes on. What is shown while it runs is progress.py; which partitions are asked for, selection.py.

Dagster is imported when the first partition has to be run: to find that all is up to date takes no second.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from assets.fingerprints import Fingerprints
from memflow.benchmarks.datasets import Dataset
from memflow.errors import MissingData
from memflow.records import Score
from resources.process_locks import has_stale_locks
from resources.settings import Settings

if TYPE_CHECKING:
    import dagster as dg

    from resources.ledger import SqlLedger

LEFT_OUT = "left out, since what it is made from failed"
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
    """One run: a job on a partition, `assistant|domain` where that has two dimensions.

    It is left out when all runs that it comes `after` failed.
    """

    job: str
    partition: str | None
    fresh: Callable[[], bool]
    config: dict[str, Any] = field(default_factory=dict)
    after: tuple["Leg", ...] = ()


@dataclass
class Outcome:
    """What came of a walk."""

    ran: list[Leg] = field(default_factory=list)
    kept: list[Leg] = field(default_factory=list)
    failed: list[tuple[Leg, str]] = field(default_factory=list)
    skipped: list[Leg] = field(default_factory=list)
    missing: dict[str, list[Dataset]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    figures: list[Score] = field(default_factory=list)
    accounts: list[dict[str, Any]] = field(default_factory=list)

    def stops(self, leg: Leg) -> bool:
        """Whether nothing that `leg` is made from came about."""
        lost = [*self.skipped, *(failed for failed, _ in self.failed)]
        return bool(leg.after) and all(before in lost for before in leg.after)


class Watcher(Protocol):
    """Told how the walk goes."""

    def begin(self, legs: int) -> None: ...
    def leg(self, leg: Leg) -> None: ...
    def step(self, name: str, done: int, total: int) -> None: ...
    def end_leg(self, leg: Leg, what: str) -> None: ...


def walk(settings: Settings, order: Order, watcher: Watcher, budget: Any = None) -> Outcome:
    """Materialize what `order` asks for, in the order of the walk."""
    recipes = Fingerprints.of(settings)
    outcome = Outcome()
    legs = _legs(settings, order, recipes, outcome)
    watcher.begin(len(legs))
    with ExitStack() as stack:
        executor: Executor | None = None
        if has_stale_locks(settings.home):
            # Opening the instance ends the runs of killed processes, whether or not there is something to run.
            executor = stack.enter_context(Executor(settings, recipes, watcher, budget))
        for leg in legs:
            watcher.leg(leg)
            if outcome.stops(leg):
                outcome.skipped.append(leg)
                watcher.end_leg(leg, LEFT_OUT)
                continue
            if not order.again and leg.fresh():
                outcome.kept.append(leg)
                watcher.end_leg(leg, "up to date")
                continue
            if executor is None:
                executor = stack.enter_context(Executor(settings, recipes, watcher, budget))
            wrong = executor.run(leg, outcome)
            watcher.end_leg(leg, wrong or "done")
        if recipes.lake.facts("score.leaderboard", "all") is not None:
            outcome.figures = recipes.lake.read("score.leaderboard", "all")
        if executor is not None:
            outcome.accounts = _accounts(executor.models.ledger, set(outcome.runs))
    return outcome


class Executor:
    """Runs legs through Dagster, in this process. The instance is open while the context lasts."""

    def __init__(self, settings: Settings, recipes: Fingerprints, watcher: Watcher, budget: Any) -> None:
        from assets.definitions import build_defs, build_resources

        resources = build_resources(settings, budget, recipes)
        self.settings = settings
        self.models = resources["models"]
        self.models.watch = lambda account, done, total: watcher.step(account.stage, done, total)
        self._definitions = build_defs(settings, resources)
        self._stack = ExitStack()

    def __enter__(self) -> "Executor":
        from resources.instance import open_instance

        with ExitStack() as opening:
            opening.callback(self.models.close)
            self._opened = opening.enter_context(open_instance(self.settings.home))
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def run(self, leg: Leg, outcome: Outcome) -> str:
        """Run a leg. Return the reason when it fails, else an empty string."""
        from assets.partitions import pair

        assistant, multiple, domain = (leg.partition or "").partition("|")
        result = self._definitions.resolve_job_def(leg.job).execute_in_process(
            partition_key=pair(domain, assistant) if multiple else leg.partition,
            instance=self._opened.instance,
            run_config={"ops": leg.config, "loggers": QUIET},
            tags={"memflow/reason": "command line", **self._opened.tags},
            raise_on_error=False,
        )
        outcome.runs.append(result.run_id)
        if result.success:
            outcome.ran.append(leg)
            return ""
        reason = _reason(result)
        outcome.failed.append((leg, reason))
        return reason


def _legs(settings: Settings, order: Order, recipes: Fingerprints, outcome: Outcome) -> list[Leg]:
    """The runs, in order; data sets that cannot be read are noted, and a domain that has none has failed.

    Raises MissingData where that holds of every domain.
    """
    reading: dict[str, Leg] = {}
    building: list[Leg] = []
    measuring: list[Leg] = []
    for domain in (settings.domain(name).limited(order.limit) for name in order.domains):
        build = Leg("build_users", domain.name, partial(recipes.built, domain), _limits(order.limit))
        try:
            found, lacking = recipes.library.datasets_of(domain)
        except MissingData as wrong:
            if len(outcome.failed) + 1 == len(order.domains):
                raise
            outcome.failed.append((build, str(wrong)))
            continue
        if lacking:
            outcome.missing[domain.name] = lacking
        for each in found:
            reading.setdefault(each.name, Leg("read_datasets", each.name, partial(recipes.read, each.name)))
        build = replace(build, after=tuple(reading[each.name] for each in found))
        building.append(build)
        measuring += [
            Leg(
                "measure_memories",
                f"{name}|{domain.name}",  # as Dagster writes it: the dimensions in the order of their names
                partial(recipes.measured, domain.name, name),
                after=(build,),
            )
            for name in order.assistants
        ]
    publishing = Leg("publish_scores", None, recipes.published, after=tuple(measuring))
    return [*reading.values(), *building, *measuring, publishing]


def _limits(limit: int) -> dict[str, Any]:
    return {
        name: {"config": {"limit": limit}}
        for name in ("states", "utterance__turns", "question__keys", "question__probes", "feedback__sessions")
    }


def _reason(result: "dg.ExecuteInProcessResult") -> str:
    """The blocking checks that failed, and where; else what the first step that failed raised, under Dagster's own
    error and above what that one came of."""
    import dagster as dg

    broken = [
        reason
        for check in result.get_asset_check_evaluations()
        if not check.passed and check.severity is dg.AssetCheckSeverity.ERROR
        for reason in _broken(check)
    ]
    if broken:
        return "; ".join(broken)
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error is not None:
            error = event.step_failure_data.error
            return f"{event.step_key}: {(error.cause or error).message.strip()}"
    return "the run failed; its page in the UI says why"


def _broken(check: "dg.AssetCheckEvaluation") -> Iterator[str]:
    """Yield a sentence for each rule that failed: what, of how many rows, and which."""
    import dagster as dg

    rules = check.metadata["rules"]
    for rule in (record.data for record in rules.records) if isinstance(rules, dg.TableMetadataValue) else ():
        if rule["result"] == "passed":
            continue
        if rule["result"] == "error":
            yield f"{check.asset_key.to_user_string()}: {rule['offending']}"
            continue
        found = (
            f"not so of {rule['unexpected']} of {rule['rows']} rows" if rule["rows"] else "the table is empty"
        )
        where = f" ({rule['offending']})" if rule["offending"] else ""
        yield f"{check.asset_key.to_user_string()}: {str(rule['property']).lower()}: {found}{where}"


def _accounts(ledger: "SqlLedger", runs: set[str]) -> list[dict[str, Any]]:
    """The accounts of these runs, by stage and role."""
    summed: dict[tuple[str, str], Counter[str]] = {}
    for row in ledger.accounts(("run", "stage", "role")):
        if row.by["run"] in runs:
            numbers = {name: value for name, value in asdict(row).items() if name != "by"}
            summed.setdefault((row.by["stage"], row.by["role"]), Counter()).update(numbers)
    return [{"stage": stage, "role": role, **numbers} for (stage, role), numbers in summed.items()]
