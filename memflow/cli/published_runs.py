"""`memflow import published`: the page of published runs, from files that the user downloaded."""

import asyncio
import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.options import OverwriteOption, argument, front_of
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.cli.views import printed
from memflow.errors import MissingData
from memflow.rendering.texts import heading, note

if TYPE_CHECKING:
    from memflow.published_runs.run_attribution import BenchmarkMessages
    from memflow.resources.settings.settings import Settings


def published(
    ctx: typer.Context,
    folder: Annotated[
        Path, argument("FOLDER", "The downloads: a folder per run, as `runs.yaml` names them.")
    ],
    page: Annotated[
        Path | None, typer.Option("--page", help="Write the page in Markdown to this file, too.")
    ] = None,
    force: OverwriteOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Score published runs of memory systems again, and compare, attribute and check them. No model is asked.

    Reads the answers, labels and retrieval logs that others committed publicly. Shows their claims beside the published
    labels with intervals and without known wrong keys, paired differences, and where evidence was lost. `--format json`
    has all runs, with their values by category. Evidence in texts needs the benchmark's data (`memflow data get`).
    """
    from memflow.published_runs.collection import read_folder
    from memflow.published_runs.page import TITLE, page_parts, page_text
    from memflow.published_runs.report import RunsReport, run_row

    runs, unreadable = read_folder(folder)
    settings = front_of(ctx).load()
    messages = {
        benchmark: found
        for benchmark in {run.benchmark for run in runs}
        if (found := _messages(settings, benchmark)) is not None
    }
    report = RunsReport.of_runs(runs, messages, unreadable)
    parts = [*page_parts(report)]
    if page is not None:
        date = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
        write(page, page_text(parts, date, "memflow import published FOLDER --page FILE"), force)
    print_result(
        form,
        report.data(),
        heading(TITLE),
        *printed(parts),
        *(note(fault) for fault in report.faults()),
        *([note(f"The page is {page}.")] if page is not None else []),
        rows=[run_row(run) for run in report.runs],
    )


def _messages(settings: "Settings", benchmark: str) -> "BenchmarkMessages | None":
    """Return the messages and evidence of a benchmark; None if its data is not in the data folder."""
    from memflow.benchmarks import registry
    from memflow.published_runs.rescoring import benchmark_facts
    from memflow.published_runs.run_attribution import BenchmarkMessages
    from memflow.resources.data.library import Library

    name = benchmark_facts(benchmark).domain
    if not name:
        return None
    domain, library = settings.domain(name), Library(settings.data, settings.datasets)
    code = registry.benchmark(domain.benchmark)
    try:
        datasets, lacking = library.datasets_of(domain)
    except MissingData:
        return None
    if lacking:
        return None
    records = [row for dataset in datasets for row in code.records(dataset, library.paths(dataset))]

    async def rows() -> "BenchmarkMessages":
        none: Any = None  # published conversations have no states, and no simulator is asked
        turns = await code.turns(domain, records, none, none)
        return BenchmarkMessages.of_rows(turns, await code.probes(domain, records, none, turns, none))

    return asyncio.run(rows())
