"""The progress display of `memflow.evaluate`: that of `memflow run`, or a bar in HTML in a notebook."""

import html
import sys
from contextlib import AbstractContextManager, nullcontext

from memflow.operations.pipeline import DONE, SKIPPED, UP_TO_DATE, Silent
from memflow.operations.planned_runs import PlannedRun
from memflow.rendering.progress import ProgressWatcher


def progress_watcher() -> AbstractContextManager[Silent]:
    """Return the progress display for this process."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return nullcontext(NotebookWatcher()) if hasattr(shell, "kernel") else ProgressWatcher()


class NotebookWatcher(Silent):
    """A bar of runs with the running partitions and the failures, as HTML that is updated in place."""

    def begin(self, runs: int) -> None:
        """Show the number of planned runs."""
        from IPython.display import HTML, display

        self._total, self._ended, self._html = runs, 0, HTML
        self._running, self._failed = list[str](), list[str]()
        self._display = display(HTML(""), display_id=True)

    def start_run(self, run: PlannedRun) -> None:
        """Show that a planned run has started."""
        self._running.append(run.name)
        self._update()

    def end_run(self, run: PlannedRun, result: str) -> None:
        """Show that a planned run has ended, with the reason of a failure."""
        self._ended += 1
        self._running.remove(run.name)
        if result not in (DONE, UP_TO_DATE, SKIPPED):
            self._failed.append(f"{run.name}: {result}")
        self._update()

    def _update(self) -> None:
        text = f"{self._ended} of {self._total} runs. {'; '.join(self._running)}"
        bar = f'<progress value="{self._ended}" max="{self._total}"></progress> '
        self._display.update(self._html(bar + "<br>".join(map(html.escape, (text, *self._failed)))))
