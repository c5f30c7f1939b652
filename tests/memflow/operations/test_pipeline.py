"""`memflow run`: the order of runs, several at a time, and the reason of a failed run."""

import contextlib
import signal
import threading
from collections.abc import Sequence

import dagster as dg
import pytest

from memflow.assets.metadata import rule_table
from memflow.checks.evaluation import RuleResult
from memflow.operations.executor import _broken
from memflow.operations.pipeline import Schedule, Silent
from memflow.operations.planned_runs import Outcome, PlannedRun, RunRequest
from memflow.resources.settings.settings import Settings


def evaluation(rows: int, unexpected: int, offending: tuple[str, ...]) -> dg.AssetCheckEvaluation:
    """Return a failed check of one rule beside one that passed."""
    failed = RuleResult(
        "question.probes", "has_rows", False, "error", unexpected, rows, offending, "There are probes"
    )
    passed = RuleResult("question.probes", "gold_not_blank", True, "error", 0, rows, (), "Gold is given")
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(["question", "probes"]),
        check_name="blocking_rules",
        passed=False,
        metadata={"rules": rule_table({"question.probes": [passed, failed]})},
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ((0, 1, ()), "fails: the table is empty"),
        ((4, 1, ("nora/p0",)), "fails on 1 of 4 rows (nora/p0)"),
        ((4, 2, ()), "fails on 2 of 4 rows"),
    ],
)
def test_reason_of_a_failed_run_names_violated_rules(given, reason: str) -> None:
    assert list(_broken(evaluation(*given))) == [f"question/probes: the rule has_rows {reason}"]


class Recorder:
    """An executor that records the runs; each waits until `together` runs are executing."""

    def __init__(self, together: int = 1, failing: Sequence[str] = ()) -> None:
        self.settings = Settings()
        self.barrier = threading.Barrier(together, timeout=10)
        self.failing = failing
        self.began: list[str] = []
        self.most = 0
        self.running = 0
        self.interrupted = False
        self.lock = threading.Lock()

    @property
    def models(self) -> "Recorder":
        return self

    def interrupt(self) -> None:
        self.interrupted = True

    def run(self, run: PlannedRun) -> tuple[str, str]:
        with self.lock:
            self.began.append(run.name)
            self.running += 1
            self.most = max(self.most, self.running)
        self.barrier.wait()
        with self.lock:
            self.running -= 1
        return f"id of {run.name}", "broken" if run.partition in self.failing else ""


class Stored:
    """Fingerprints by which the partition `stored` is up to date."""

    def up_to_date(self, scope: str, partition: str, assistant: str, tables: object = None) -> bool:
        return partition == "stored"

    def damaged(self, scope: str, partition: str, assistant: str) -> list[str]:
        return []


def planned(partition: str, *after: PlannedRun) -> PlannedRun:
    return PlannedRun("domain", partition, after=after)


def executed(
    runs: Sequence[PlannedRun], recorder: Recorder, parallel: int = 1, watcher: Silent | None = None
) -> Outcome:
    outcome = Outcome()
    request = RunRequest((), (), parallel=parallel)
    Schedule(request, Stored(), watcher or Silent(), outcome, lambda: recorder).run(runs)  # type: ignore[arg-type,return-value]
    return outcome


def test_independent_runs_execute_at_the_same_time_up_to_the_limit() -> None:
    recorder = Recorder(together=3)
    outcome = executed([planned(f"p{number}") for number in range(6)], recorder, parallel=3)
    assert (len(outcome.ran), recorder.most) == (6, 3)


def test_run_starts_after_all_runs_that_it_depends_on() -> None:
    first, second = planned("first"), planned("second")
    last = planned("last", first, second)
    recorder = Recorder()
    executed([last, first, second], recorder, parallel=4)
    assert recorder.began[-1] == last.name and len(recorder.began) == 3


def test_failed_run_skips_its_dependents_and_no_other_run() -> None:
    bad, good = planned("bad"), planned("stored")
    after_bad, after_good, after_both = planned("a", bad), planned("b", good), planned("c", bad, good)
    outcome = executed([bad, good, after_bad, after_good, after_both], Recorder(failing=("bad",)), parallel=2)
    assert outcome.failed == [(bad, "broken")]
    assert (outcome.skipped, outcome.up_to_date) == ([after_bad], [good])
    assert outcome.ran == [after_good, after_both]


def test_other_runs_continue_after_an_exception_in_one_run() -> None:
    class Broken(Recorder):
        def run(self, run: PlannedRun) -> tuple[str, str]:
            if run.partition == "p":
                raise OSError("no disk")
            return super().run(run)

    outcome = executed([planned("p"), planned("q")], Broken(), parallel=2)
    assert [(run.partition, reason) for run, reason in outcome.failed] == [("p", "OSError: no disk")]
    assert [run.partition for run in outcome.ran] == ["q"]


def test_interrupt_in_one_run_stops_the_other_runs_and_is_raised() -> None:
    class Broken(Recorder):
        def run(self, run: PlannedRun) -> tuple[str, str]:
            raise KeyboardInterrupt

    broken = Broken()
    with pytest.raises(KeyboardInterrupt):
        executed([planned("p")], broken, parallel=2)
    assert broken.interrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_schedule_also_if_it_arrives_while_a_callback_runs(number: signal.Signals) -> None:
    class Watching(Silent):
        def start_run(self, run: PlannedRun) -> None:
            with contextlib.suppress(BaseException):  # as callbacks of the interpreter do
                signal.raise_signal(number)

    before = signal.getsignal(number)
    signaled = Recorder()
    with pytest.raises(KeyboardInterrupt):
        executed([planned("p"), planned("q")], signaled, watcher=Watching())
    assert signaled.interrupted and "q" not in "".join(signaled.began)
    assert signal.getsignal(number) == before
