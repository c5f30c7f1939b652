"""The progress display of `memflow.evaluate`: as of `memflow run` in a program, and a bar in HTML in a notebook."""

import html
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from memflow.chat.ledger import RequestContext
from memflow.cli.pipeline import DONE, SKIPPED, UP_TO_DATE, Silent
from memflow.cli.planned_runs import PlannedRun
from memflow.cli.progress import CHECKS, ITEMS, ProgressWatcher

PERIOD_S = 0.25
"""Seconds between two updates of the display in a notebook."""


def progress_watcher(shown: bool) -> AbstractContextManager[Silent]:
    """Return the progress display of this process, or none."""
    if not shown:
        return nullcontext(Silent())
    return nullcontext(NotebookWatcher()) if _is_notebook() else ProgressWatcher()


def _is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook, which displays HTML."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


class NotebookWatcher(Silent):
    """A bar of runs and the items of the running partitions, as HTML that is updated in place."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._lock = threading.Lock()
        self._total = self._ended = 0
        self._running: dict[tuple[str, str], str] = {}
        self._failed: list[str] = []
        self._updated = 0.0
        self._display: Any = display(HTML(""), display_id=True)

    def begin(self, runs: int) -> None:
        """Show the number of planned runs."""
        self._total = runs
        self._update(now=True)

    def start_run(self, run: PlannedRun) -> None:
        """Show that a planned run has started."""
        self._running[run.domain, run.assistant] = run.name
        self._update()

    def step(self, context: RequestContext, done: int, total: int) -> None:
        """Show the number of completed items of a step."""
        items = ITEMS.get(context.stage, context.stage) if done < total else CHECKS
        if (context.domain, context.assistant) in self._running:
            names = " · ".join(filter(None, (context.domain, context.assistant)))
            self._running[context.domain, context.assistant] = f"{names}: {done:,} of {total:,} {items}"
            self._update()

    def end_run(self, run: PlannedRun, result: str) -> None:
        """Show the result of a planned run, with the reason of a failure."""
        self._ended += 1
        self._running.pop((run.domain, run.assistant), None)
        if result not in (DONE, UP_TO_DATE, SKIPPED):
            self._failed.append(f"{run.name}: {result}")
        self._update(now=self._ended == self._total)

    def _update(self, now: bool = False) -> None:
        with self._lock:
            if not now and time.monotonic() - self._updated < PERIOD_S:
                return
            self._updated = time.monotonic()
            running = "; ".join([*self._running.values()][:3])
            lines = [f"{self._ended} of {self._total} runs. {running}", *self._failed]
            bar = f'<progress value="{self._ended}" max="{self._total}"></progress> '
            self._display.update(self._html(bar + "<br>".join(map(html.escape, lines))))
