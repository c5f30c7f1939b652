"""`memflow run`: Dagster's jobs, one run per partition, on the instance that the UI shows.

Partitions that are up to date are skipped. If a run fails, runs that depend on it are skipped and the others continue.
Dagster is imported when the first partition has to run. progress.py shows progress; selection.py selects partitions.
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
from memflow.pipeline import JOBS, Scope, steps_of
from memflow.records import Score
from resources.leaderboard import former_partitions
from resources.process_locks import has_stale_locks
from resources.settings import Settings

if TYPE_CHECKING:
    import dagster as dg

    from resources.ledger import SqlLedger

DONE, UP_TO_DATE, SKIPPED = "done", "up to date", "skipped, because an input failed"
QUIET = {"console": {"config": {"log_level": "CRITICAL"}}}


@dataclass(frozen=True)
class RunRequest:
    """The domains and assistants to run.

    `limit` applies to every domain; `force` reruns up-to-date partitions (from the ledger).
    """

    domains: Sequence[str]
    assistants: Sequence[str]
    limit: int = 0
    force: bool = False


@dataclass(frozen=True)
class PlannedRun:
    """One run: the job of a scope on a partition, `assistant|domain` if the partition has two dimensions.

    The run is skipped if all runs in `after` failed.
    """

    scope: Scope
    partition: str | None
    up_to_date: Callable[[], bool]
    config: dict[str, Any] = field(default_factory=dict)
    after: tuple["PlannedRun", ...] = ()

    @property
    def job(self) -> str:
        """The name of the Dagster job that executes the run."""
        return JOBS[self.scope][0]

    @property
    def name(self) -> str:
        """The job and its partition: `evaluate_memory DOMAIN · full`."""
        assistant, multiple, domain = (self.partition or "").partition("|")
        return f"{self.job} {f'{domain} · {assistant}' if multiple else self.partition or ''}".strip()


@dataclass
class Outcome:
    """The runs of `run_pipeline`, grouped by their result."""

    ran: list[PlannedRun] = field(default_factory=list)
    up_to_date: list[PlannedRun] = field(default_factory=list)
    failed: list[tuple[PlannedRun, str]] = field(default_factory=list)
    skipped: list[PlannedRun] = field(default_factory=list)
    missing: dict[str, list[Dataset]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    former: list[str] = field(default_factory=list)
    """Partitions that the leaderboard leaves out, because a former version of memflow wrote them."""
    usage: list[dict[str, Any]] = field(default_factory=list)

    def lacks_inputs(self, run: PlannedRun) -> bool:
        """Return whether every run that `run` depends on failed or was skipped."""
        lost = [*self.skipped, *(failed for failed, _ in self.failed)]
        return bool(run.after) and all(before in lost for before in run.after)


class Watcher(Protocol):
    """Callbacks for the progress of a pipeline."""

    def begin(self, runs: int) -> None: ...
    def start_run(self, run: PlannedRun) -> None: ...
    def step(self, name: str, done: int, total: int) -> None: ...
    def end_run(self, run: PlannedRun, result: str) -> None: ...


def run_pipeline(settings: Settings, request: RunRequest, watcher: Watcher, budget: Any = None) -> Outcome:
    """Materialize the requested partitions, in the order of the pipeline. Return the outcome."""
    fingerprints = Fingerprints.of(settings)
    outcome = Outcome()
    planned = _planned(settings, request, fingerprints, outcome)
    watcher.begin(len(planned))
    with ExitStack() as stack:
        executor: Executor | None = None
        if has_stale_locks(settings.home):
            # Opening the instance ends the runs of killed processes, also where nothing has to run.
            executor = stack.enter_context(Executor(settings, fingerprints, watcher, budget))
        for run in planned:
            watcher.start_run(run)
            if outcome.lacks_inputs(run):
                outcome.skipped.append(run)
                watcher.end_run(run, SKIPPED)
                continue
            if not request.force and run.up_to_date():
                outcome.up_to_date.append(run)
                watcher.end_run(run, UP_TO_DATE)
                continue
            if executor is None:
                executor = stack.enter_context(Executor(settings, fingerprints, watcher, budget))
            watcher.end_run(run, executor.run(run, outcome) or DONE)
        outcome.former = former_partitions(settings, fingerprints.lake)
        if fingerprints.lake.current_partitions("score.leaderboard"):
            outcome.scores = fingerprints.lake.read("score.leaderboard", "all")
        if executor is not None:
            outcome.usage = _usage(executor.models.ledger, set(outcome.runs))
    return outcome


class Executor:
    """A context manager that opens the Dagster instance and executes planned runs in this process."""

    def __init__(self, settings: Settings, fingerprints: Fingerprints, watcher: Watcher, budget: Any) -> None:
        from assets.definitions import build_defs, build_resources

        resources = build_resources(settings, budget, fingerprints)
        self.settings = settings
        self.models = resources["models"]
        self.models.watch = lambda context, done, total: watcher.step(context.stage, done, total)
        self._definitions = build_defs(settings, resources, fingerprints)
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

    def run(self, run: PlannedRun, outcome: Outcome) -> str:
        """Execute a planned run. Return the reason if it fails, else an empty string."""
        from assets.partitions import pair

        assistant, multiple, domain = (run.partition or "").partition("|")
        result = self._definitions.resolve_job_def(run.job).execute_in_process(
            partition_key=pair(domain, assistant) if multiple else run.partition,
            instance=self._opened.instance,
            run_config={"ops": run.config, "loggers": QUIET},
            tags={"memflow/reason": "command line", **self._opened.tags},
            raise_on_error=False,
        )
        outcome.runs.append(result.run_id)
        if result.success:
            outcome.ran.append(run)
            return ""
        reason = _reason(result)
        outcome.failed.append((run, reason))
        return reason


def _planned(
    settings: Settings, request: RunRequest, fingerprints: Fingerprints, outcome: Outcome
) -> list[PlannedRun]:
    """Return the runs in order. Missing data sets are recorded; a domain without any data set counts as failed.

    Raises MissingData if no domain has a data set.
    """
    ingested: dict[str, PlannedRun] = {}
    generated: list[PlannedRun] = []
    evaluated: list[PlannedRun] = []
    sample = {"config": {"limit": request.limit}}
    config = {step.name: sample for step in steps_of("domain")}
    for domain in (settings.domain(name).limited(request.limit) for name in request.domains):
        generate = PlannedRun(
            "domain", domain.name, partial(fingerprints.up_to_date, "domain", domain), config
        )
        try:
            found, lacking = fingerprints.library.datasets_of(domain)
        except MissingData as error:
            if len(outcome.failed) + 1 == len(request.domains):
                raise
            outcome.failed.append((generate, str(error)))
            continue
        if lacking:
            outcome.missing[domain.name] = lacking
        for each in found:
            up_to_date = partial(fingerprints.up_to_date, "dataset", each.name)
            ingested.setdefault(each.name, PlannedRun("dataset", each.name, up_to_date))
        generate = replace(generate, after=tuple(ingested[each.name] for each in found))
        generated.append(generate)
        evaluated += [
            PlannedRun(
                "domain x assistant",
                f"{name}|{domain.name}",  # as Dagster writes it: the dimensions in the order of their names
                partial(fingerprints.up_to_date, "domain x assistant", domain.name, name),
                after=(generate,),
            )
            for name in request.assistants
        ]
    publish = PlannedRun("all", None, partial(fingerprints.up_to_date, "all"), after=tuple(evaluated))
    return [*ingested.values(), *generated, *evaluated, publish]


def _reason(result: "dg.ExecuteInProcessResult") -> str:
    """Return the failed blocking checks with the offending rows, or the exception of the first failed step."""
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
    return "the run failed. See the page of the run in the UI."


def _broken(check: "dg.AssetCheckEvaluation") -> Iterator[str]:
    """Yield a sentence for each failed rule: the rule, the number of rows, and the keys of some rows."""
    import dagster as dg

    rules = check.metadata["rules"]
    for rule in (record.data for record in rules.records) if isinstance(rules, dg.TableMetadataValue) else ():
        if rule["result"] == "passed":
            continue
        if rule["result"] == "error":
            yield f"{check.asset_key.to_user_string()}: {rule['offending']}"
            continue
        found = (
            f"violated by {rule['unexpected']} of {rule['rows']} rows"
            if rule["rows"]
            else "the table is empty"
        )
        where = f" ({rule['offending']})" if rule["offending"] else ""
        yield f"{check.asset_key.to_user_string()}: {str(rule['property']).lower()}: {found}{where}"


def _usage(ledger: "SqlLedger", runs: set[str]) -> list[dict[str, Any]]:
    """Return the usage of these runs, by stage and role."""
    summed: dict[tuple[str, str], Counter[str]] = {}
    for row in ledger.usage(("run", "stage", "role")):
        if row.by["run"] in runs:
            numbers = {name: value for name, value in asdict(row).items() if name != "by"}
            summed.setdefault((row.by["stage"], row.by["role"]), Counter()).update(numbers)
    return [{"stage": stage, "role": role, **numbers} for (stage, role), numbers in summed.items()]
