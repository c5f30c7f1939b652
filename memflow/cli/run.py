"""`memflow run`: materialize the selected partitions, and print a summary.

memflow/operations orders and executes the runs, memflow/rendering/progress.py shows progress, summary.py the results.
"""

import gc
import os
import signal
from functools import partial
from typing import Annotated

import typer

from memflow.cli.output import Format, FormatOption, print_result
from memflow.cli.selection import Selection, with_selection
from memflow.operations.messages import message
from memflow.operations.run import run_selection

COLLECTION_THRESHOLDS = (20_000, 5, 2)
"""Thresholds of the garbage collector. Python's default of 700 allocations costs a tenth of a run's CPU time. 200,000
new objects start a full collection: output types that are narrowed to one user are garbage with cycles."""

FAULTY_MEMORY = 3
"""The exit code if every run succeeded, but a memory is faulty and so not measured. 1 is a failed run or an error, 2 a
wrong command line."""

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 + SIGINT, as shells report it."""

CostOption = Annotated[
    float | None,
    typer.Option(
        "--budget",
        min=0,
        help="Spend at most this much, by the models' prices; 0 is no limit. [cost of [budget] in memflow.toml, "
        "which also bounds calls and tokens]",
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Also run partitions that are up to date: a replay from the ledger.")
]
ParallelOption = Annotated[
    int,
    typer.Option(
        "--parallel",
        min=0,
        help="Run at most this many partitions at once; 0 chooses by the models' concurrency.",
    ),
]
UncheckedOption = Annotated[
    bool, typer.Option("--unchecked", help="Run memory servers without a passed `memflow memories check`.")
]


def manage_memory() -> None:
    """Collect garbage less often, and return freed memory to the operating system; to be called before other imports.

    Arrow uses the system's allocator. It reads the variable when it is imported.
    """
    from memflow.resources.process import limit_free_memory

    gc.set_threshold(*COLLECTION_THRESHOLDS)
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    limit_free_memory()


@partial(with_selection, prepare=manage_memory)
def run(
    ctx: typer.Context,
    selection: Selection,
    budget: CostOption = None,
    parallel: ParallelOption = 0,
    force: ForceOption = False,
    unchecked: UncheckedOption = False,
    format: FormatOption = Format.table,
) -> None:
    """Generate, play, answer and score the selected domains and assistants, through Dagster.

    Partitions that are up to date are skipped. Answered requests are never sent twice, so an interrupted run continues
    from its last answered request.

    The exit code is 1 if a run failed, and 3 if a memory is faulty, so that it is not measured.
    """
    # As Ctrl-C: started servers end, and runs are recorded as failed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Imported after the selection, so that a misspelled name fails fast.
    from memflow.cli.summary import Summary
    from memflow.rendering.progress import ProgressWatcher

    try:
        with ProgressWatcher() as watcher:
            selection, outcome = run_selection(selection, watcher, budget, parallel, force, unchecked)
    except KeyboardInterrupt:
        message(
            "memflow: interrupted. Rerun the command to continue: answered requests come from the ledger."
        )
        raise typer.Exit(INTERRUPTED) from None
    summary = Summary.of(selection, outcome)
    print_result(format, None if format is Format.table else summary.data(), *summary.shown())
    if outcome.failed:
        raise typer.Exit(1)
    if summary.faulty:
        raise typer.Exit(FAULTY_MEMORY)
