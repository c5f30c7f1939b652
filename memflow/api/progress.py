"""The progress display of `memflow.evaluate`: that of `memflow run` in a program, and a bar in HTML in a notebook."""

import html
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from memflow.chat.ledger import RequestContext
from memflow.cli.progress import CHECKS, ITEMS, ProgressWatcher
from memflow.operations.pipeline import DONE, SKIPPED, UP_TO_DATE, Silent
from memflow.operations.planned_runs import PlannedRun

PERIOD_S = 0.25
"""Seconds between two updates of the display in a notebook."""
ROWS = 3
"""Maximum number of running partitions that are shown."""


def progress_watcher(is_shown: bool) -> AbstractContextManager[Silent]:
    """Return the progress display of this process, or one that shows nothing."""
    if not is_shown:
        return nullcontext(Silent())
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return nullcontext(NotebookWatcher()) if hasattr(shell, "kernel") else ProgressWatcher()


class NotebookWatcher(Silent):
    """A bar of runs and the items of running partitions, as HTML that is updated in place."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._lock = threading.Lock()
        self._total, self._ended, self._updated = 0, 0, 0.0
        self._running: dict[tuple[str, str], str] = {}
        self._failed: list[str] = []
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
        partition = (context.domain, context.assistant)
        if partition in self._running:
            items = ITEMS.get(context.stage, context.stage) if done < total else CHECKS
            self._running[partition] = f"{' · '.join(filter(None, partition))}: {done:,} of {total:,} {items}"
            self._update()

    def end_run(self, run: PlannedRun, result: str) -> None:
        """Show that a planned run has ended, with the reason of a failure."""
        self._ended += 1
        self._running.pop((run.domain, run.assistant), None)
        if result not in (DONE, UP_TO_DATE, SKIPPED):
            self._failed.append(f"{run.name}: {result}")
        self._update(now=self._ended == self._total)

    def _update(self, now: bool = False) -> None:
        with self._lock:
            if now or time.monotonic() - self._updated >= PERIOD_S:
                self._updated = time.monotonic()
                running = "; ".join([*self._running.values()][:ROWS])
                lines = map(html.escape, (f"{self._ended} of {self._total} runs. {running}", *self._failed))
                bar = f'<progress value="{self._ended}" max="{self._total}"></progress>'
                self._display.update(self._html(f"{bar} {'<br>'.join(lines)}"))
