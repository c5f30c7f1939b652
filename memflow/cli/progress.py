"""What a person sees while the walk goes on: runs done, the step at hand with its rate, and the time left."""

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

from memflow.cli.pipeline import LEFT_OUT, Leg

STEPS = {
    "question": "keys annotated",
    "memory": "events played",
    "answer": "probes asked",
    "feedback": "cases",
}


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="cyan")


class ProgressWatcher:
    """Draws two bars on standard error: the runs, and the items of the step at hand."""

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

    def begin(self, legs: int) -> None:
        """The walk has that many legs."""
        self._total = legs
        self._runs = self._progress.add_task("runs", total=legs)

    def leg(self, leg: Leg) -> None:
        """A leg begins."""
        if self._runs is not None:
            self._progress.update(self._runs, description=name_of(leg))

    def step(self, name: str, done: int, total: int) -> None:
        """So many items of a step are done."""
        if self._step is None:
            self._step = self._progress.add_task(STEPS.get(name, name), total=total)
        if done == 1:
            self._progress.reset(self._step, total=total, description=STEPS.get(name, name))
        self._progress.update(self._step, completed=done)

    def end_leg(self, leg: Leg, what: str) -> None:
        """A leg has ended: `done`, `up to date`, or why it failed."""
        self._ended += 1
        if self._runs is not None:
            self._progress.advance(self._runs)
        if what not in ("done", "up to date", LEFT_OUT):
            self.console.print(f"[red]failed[/red]  {name_of(leg)}: {what}", highlight=False)
        elif not self.console.is_terminal:
            print(f"[{self._ended}/{self._total}] {name_of(leg)}: {what}", file=sys.stderr, flush=True)


def name_of(leg: Leg) -> str:
    """`evaluate_memory amemgym_demo · full`."""
    assistant, multiple, domain = (leg.partition or "").partition("|")
    where = f"{domain} · {assistant}" if multiple else leg.partition or ""
    return f"{leg.job} {where}".strip()
