"""`memflow report` and `memflow view`: write the results as a folder of static files, and open it in a browser.

resources/report/ writes the files and serves them.
"""

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.options import AssistantFilter, DomainFilter, argument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.front import Front
from memflow.operations.messages import message
from memflow.operations.moments import lake_as_of, parse_moment
from memflow.rendering.tables import Text
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.resources.report.export import Report
    from memflow.resources.report.source import ReportOptions

FOLDER = "report"
"""The default folder of the report, below the home."""


def report(
    ctx: typer.Context,
    out: Annotated[Path | None, argument("[FOLDER]", "The folder to write. [report, in the home]")] = None,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    without_texts: Annotated[
        bool,
        typer.Option(
            "--without-texts", help="Leave out all texts of dialogues, questions, answers and prompts."
        ),
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Write the results as a folder of static files: open index.html, or copy the folder to any web host.

    Files whose results did not change are kept. The report needs no network, and contains no keys, addresses or paths
    of this machine. Texts are subject to the licences of their data sets, which the command names.
    """
    from memflow.resources.report.source import ReportOptions

    front = front_of(ctx)
    options = ReportOptions(tuple(domain or ()), tuple(assistant or ()), texts=not without_texts)
    written = _write(front, options, out or front.load().home / FOLDER)
    page = written.page.absolute()
    files = len(written.files) + 1
    print_result(
        form,
        {
            "folder": str(written.folder.absolute()),
            "page": str(page),
            "files": files,
            "written": len(written.written),
            "removed": len(written.removed),
            "bytes": written.bytes,
            "domains": written.domains,
            "assistants": written.assistants,
            "warnings": written.warnings,
        },
        Text(str(page)),
        note(
            f"{len(written.written):,} of {files:,} data files written, {len(written.removed):,} removed; "
            f"{written.bytes / 1e6:,.1f} MB in all. `memflow view` opens the report."
        ),
        *(Text(warning, "yellow") for warning in written.warnings),
    )


def view(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, argument("[FOLDER]", "Open this report as it is. [report, in the home]")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Bring the report up to date, serve it on 127.0.0.1 and open it in a browser. Press Ctrl-C to stop.

    With a folder, open a report that was written before.
    """
    from memflow.resources.report.server import open_browser, report_server
    from memflow.resources.report.source import ReportOptions

    if folder is None:
        front = front_of(ctx)
        folder = front.load().home / FOLDER
        _write(front, ReportOptions(), folder)
    elif not (folder / "index.html").is_file():
        raise BadInput(f"{folder} contains no report. Write one with `memflow report {folder}`.")
    with report_server(folder, port) as address:
        message(f"The report is on {address} (press Ctrl-C to stop)")
        if browser and not open_browser(address):
            message("No browser was found. Open the address yourself.")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            message("memflow: stopped.")


def _write(front: Front, options: "ReportOptions", folder: Path) -> "Report":
    from memflow.resources.lake.lake import Lake
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.report.export import export_report
    from memflow.resources.report.source import ReportSource

    settings = front.load()
    lake = Lake(settings.lake_root)
    if front.as_of is not None:
        options = replace(options, as_of=parse_moment(lake, front.as_of))
        lake = lake_as_of(lake, front.as_of)
    with SqlLedger(settings.ledger_url) as ledger:
        return export_report(ReportSource(settings, lake, ledger, options), folder)
