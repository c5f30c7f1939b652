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
    """A bar of runs, with a line for each that is running or failed, as HTML that is updated in place."""

    def begin(self, runs: int) -> None:
        """Show the number of planned runs."""
        from IPython.display import HTML, display

        self._total, self._ended, self._lines, self._html = runs, 0, dict[str, str](), HTML
        self._display = display(HTML(""), display_id=True)

    def start_run(self, run: PlannedRun) -> None:
        """Show that a planned run has started."""
        self._update(run, run.name)

    def end_run(self, run: PlannedRun, result: str) -> None:
        """Show that a planned run has ended, with the reason of a failure."""
        self._ended += 1
        self._update(run, "" if result in (DONE, UP_TO_DATE, SKIPPED) else f"{run.name}: {result}")

    def _update(self, run: PlannedRun, line: str) -> None:
        self._lines[run.name] = line
        lines = [f"{self._ended} of {self._total} runs", *filter(None, self._lines.values())]
        bar = f'<progress value="{self._ended}" max="{self._total}"></progress>'
        self._display.update(self._html(f"{bar} {'<br>'.join(map(html.escape, lines))}"))
