"""The progress display of `memflow run` on standard error: a bar of runs, and a row for each running partition."""

import threading

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from memflow.chat.ledger import RequestContext
from memflow.operations.messages import message, terminal_console
from memflow.operations.pipeline import DONE, SKIPPED, UP_TO_DATE, Silent
from memflow.operations.planned_runs import PlannedRun

ITEMS = {"question": "labels", "memory": "events", "answer": "probes", "feedback": "cases"}
"""The items that the steps of a stage process."""
CHECKS = "checks"
"""Shown after the last item of a step, while its rows are written and checked."""
ROWS = 12
"""Maximum number of partitions that are shown."""


class ProgressWatcher(Silent):
    """A progress display: bars on a terminal, or one line per run if standard error is no terminal.

    The first bar counts runs. The other bars show the items of the current step of each partition, and `checks` while
    the rows of a step are written and checked. A thread of rich draws them ten times a second.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or terminal_console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            TextColumn("{task.fields[items]}", markup=False),
            BarColumn(bar_width=10),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            console=self.console,
            disable=not self.console.is_terminal,
            expand=True,
        )
        self._lock = threading.Lock()
        self._total = 0
        self._ended = 0
        self._runs: TaskID | None = None
        self._running: dict[str, TaskID] = {}
        self._partitions: dict[tuple[str, str], TaskID] = {}
        self._items: dict[TaskID, str] = {}

    def __enter__(self) -> "ProgressWatcher":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, runs: int) -> None:
        """Show the number of planned runs."""
        self._total = runs
        self._runs = self._progress.add_task("all partitions", total=runs, items="runs")

    def start_run(self, run: PlannedRun) -> None:
        """Show that a planned run has started."""
        with self._lock:
            row = self._progress.add_task(
                " · ".join(filter(None, (run.partition, run.assistant))) or run.job,
                total=None,
                items="",
                visible=len(self._running) < ROWS,
            )
            self._running[run.name] = self._partitions[run.domain, run.assistant] = row

    def step(self, context: RequestContext, done: int, total: int) -> None:
        """Show the number of completed items of a step."""
        with self._lock:
            task = self._partitions.get((context.domain, context.assistant))
            if task is None:
                return
            items = ITEMS.get(context.stage, context.stage)
            if self._items.get(task) != items:
                self._items[task] = items
                self._progress.reset(task)
            shown = items if done < total else CHECKS
            self._progress.update(task, completed=done, total=total, items=shown)

    def end_run(self, run: PlannedRun, result: str) -> None:
        """Show the result of a planned run: `done`, `up to date`, skipped, or the reason of a failure."""
        with self._lock:
            self._ended += 1
            self._progress.remove_task(self._running.pop(run.name))
            self._partitions.pop((run.domain, run.assistant), None)
            for task in [*self._running.values()][:ROWS]:
                self._progress.update(task, visible=True)
        if self._runs is not None:
            self._progress.advance(self._runs)
        if result not in (DONE, UP_TO_DATE, SKIPPED):
            self.console.print(Text.assemble(("failed", "red"), f"  {run.name}: {result}"), soft_wrap=True)
        elif not self.console.is_terminal:
            message(f"[{self._ended}/{self._total}] {run.name}: {result}")
