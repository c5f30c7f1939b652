"""The progress of a run: completed runs, the current step with its rate, and the remaining time."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from memflow.cli.pipeline import DONE, SKIPPED, UP_TO_DATE, PlannedRun

STEPS = {
    "question": "labels annotated",
    "memory": "events played",
    "answer": "probes answered",
    "feedback": "cases",
}


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="cyan")


class ProgressWatcher:
    """Two progress bars on standard error: one for the runs, one for the items of the current step."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _Rate(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._runs: TaskID | None = None
        self._step: TaskID | None = None
        self._total = 0
        self._ended = 0

    def __enter__(self) -> "ProgressWatcher":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, runs: int) -> None:
        """Show the number of planned runs."""
        self._total = runs
        self._runs = self._progress.add_task("runs", total=runs)

    def start_run(self, run: PlannedRun) -> None:
        """Show the run that starts."""
        if self._runs is not None:
            self._progress.update(self._runs, description=run.name)

    def step(self, name: str, done: int, total: int) -> None:
        """Show the completed items of a step."""
        if self._step is None:
            self._step = self._progress.add_task(STEPS.get(name, name), total=total)
        if done == 1:
            self._progress.reset(self._step, total=total, description=STEPS.get(name, name))
        self._progress.update(self._step, completed=done)

    def end_run(self, run: PlannedRun, result: str) -> None:
        """Show the result of a run: `done`, `up to date`, skipped, or the reason of a failure."""
        self._ended += 1
        if self._runs is not None:
            self._progress.advance(self._runs)
        if result not in (DONE, UP_TO_DATE, SKIPPED):
            self.console.print(f"[red]failed[/red]  {run.name}: {result}", highlight=False)
        elif not self.console.is_terminal:
            print(f"[{self._ended}/{self._total}] {run.name}: {result}", file=sys.stderr, flush=True)
