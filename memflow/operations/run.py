"""A run of selected partitions, as `memflow run` and `memflow.evaluate` start it."""

from dataclasses import replace
from typing import TYPE_CHECKING

from memflow.operations.messages import message
from memflow.operations.selection import Selection

if TYPE_CHECKING:
    from memflow.operations.pipeline import Silent
    from memflow.operations.planned_runs import Outcome


AFTER_FAILURE = "Fix the cause, then rerun: the run continues, and sends no answered request again."


def run_selection(
    selection: Selection,
    watcher: "Silent",
    budget: float | None = None,
    parallel: int = 0,
    force: bool = False,
    unchecked: bool = False,
) -> "tuple[Selection, Outcome]":
    """Materialize the selected partitions. Return the selection with the settings of the run, and the outcome.

    The command `memflow run` and `memflow.evaluate` both call this function.
    """
    from memflow.operations.pipeline import run_pipeline
    from memflow.operations.planned_runs import RunRequest
    from memflow.operations.required_checks import run_required_checks, skip_checks
    from memflow.resources.models.learned_windows import learn_windows
    from memflow.resources.process import allow_open_files

    settings = selection.settings
    spending = settings.budget.with_cost(budget).budget()
    if unchecked:
        settings = skip_checks(settings)
    selection = replace(selection, settings=settings)
    retrieving = selection.retrieval_only
    assistants = tuple(dict.fromkeys((*selection.assistants, *(name for _, name in retrieving))))
    at_once = parallel or settings.partitions_at_once(assistants)
    needed = settings.open_files(at_once)
    if (allowed := allow_open_files(needed)) < needed:
        message(
            f"memflow: this process may open {allowed} files, but up to {needed} may be needed. If requests fail, "
            f"raise the limit (`ulimit -n {needed}`), or lower `concurrency` of the models or --parallel."
        )
    request = RunRequest(selection.domains, selection.assistants, force, at_once, retrieving)
    for sentence in learn_windows(settings, selection.assistants):
        message(f"memflow: {sentence}")
    run_required_checks(selection, force, spending)
    return selection, run_pipeline(settings, request, watcher, spending)
