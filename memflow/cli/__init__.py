"""`memflow COMMAND`: the command line. Each command imports other packages only when it runs.

Each command is in the module of the same name. views.py adds the commands that benchmarks declare for `show`, `export`
and `plot`. Shared modules are selection.py (options, settings) and output.py (text, JSON, CSV).
"""

import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from memflow.cli.lazy_commands import App, CommandReference, LazyGroup
from memflow.errors import MemflowError
from memflow.operations.front import Front
from memflow.operations.messages import message
from memflow.scoring.decisions import MISUSE

RUN, RESULTS, CATALOG, SETUP = (
    "Run",
    "Results",
    "Benchmarks, memories, data and models",
    "Set up, check and store",
)
COMMANDS = {
    "run": CommandReference("memflow.cli.run:run", RUN),
    "plan": CommandReference("memflow.cli.plan:plan", RUN),
    "dev": CommandReference("memflow.cli.dev:dev", RUN),
    "show": CommandReference("memflow.cli.show:show", RESULTS),
    "compare": CommandReference("memflow.cli.compare:compare", RESULTS, reads_past=True),
    "search": CommandReference("memflow.cli.search:search", RESULTS),
    "gate": CommandReference("memflow.cli.gate:gate", RESULTS, reads_past=True),
    "sql": CommandReference("memflow.cli.query:sql", RESULTS, reads_past=True),
    "report": CommandReference("memflow.cli.report:report", RESULTS, reads_past=True),
    "view": CommandReference("memflow.cli.report:view", RESULTS),
    "plot": CommandReference("memflow.cli.plot:plot", RESULTS),
    "export": CommandReference("memflow.cli.export:export", RESULTS),
    "import": CommandReference("memflow.cli.imports:imports", RESULTS),
    "verify": CommandReference("memflow.cli.verify:verify", RESULTS),
    "domains": CommandReference("memflow.cli.catalog:domains", CATALOG),
    "memories": CommandReference("memflow.cli.memories:memories", CATALOG),
    "prompts": CommandReference("memflow.cli.prompts:prompts", CATALOG),
    "judges": CommandReference("memflow.cli.judges:judges", CATALOG),
    "data": CommandReference("memflow.cli.catalog:data", CATALOG),
    "models": CommandReference("memflow.cli.models:models", CATALOG),
    "papers": CommandReference("memflow.cli.papers:papers", CATALOG),
    "init": CommandReference("memflow.cli.setup:init", SETUP),
    "doctor": CommandReference("memflow.cli.setup:doctor", SETUP),
    "checks": CommandReference("memflow.cli.checks:checks", SETUP),
    "ledger": CommandReference("memflow.cli.ledger:ledger", SETUP),
    "annotate": CommandReference("memflow.cli.annotate:annotate", SETUP),
}


class _Commands(LazyGroup):
    """A command group that prints a MemflowError as one line on standard error and exits with code 1.

    `gate`, whose exit codes 1 and 2 are decisions, exits with MISUSE for any error.
    """

    references = COMMANDS

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.exceptions.TyperException as wrong:
            if "gate" in args:
                wrong.exit_code = MISUSE
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except Exception as wrong:
            is_gate = ctx.invoked_subcommand == "gate"
            if isinstance(wrong, typer.exceptions.TyperException):  # a wrong command line, which typer prints
                wrong.exit_code = MISUSE if is_gate else wrong.exit_code
                raise
            text = _sentence(wrong)
            is_traced = not text or (isinstance(ctx.obj, Front) and ctx.obj.debug)
            if is_traced and not is_gate:
                raise
            if is_traced:
                traceback.print_exc()
            else:
                message(f"memflow: {text}")
            raise typer.Exit(MISUSE if is_gate else 1) from wrong


def _sentence(wrong: Exception) -> str | None:
    """Return the sentence of an error that a user can fix; None for another."""
    if isinstance(wrong, OSError):
        from memflow.resources.files.disks import os_fault

        return os_fault(wrong, Path(wrong.filename if isinstance(wrong.filename, str) else "the home folder"))
    return str(wrong) if isinstance(wrong, MemflowError) else None


app = App(
    name="memflow",
    cls=_Commands,
    help="Benchmarks of memory in LLM assistants, run as a Dagster graph of data assets.",
    epilog="Start with `memflow run --demo`. To use your own models and data: `memflow init`.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _folder(text: str) -> Path:
    """Return the folder of an option. An empty text, such as that of a variable that is not set, is no folder."""
    if not text:
        raise typer.BadParameter("'' is no folder. Write a path, or . for the current folder.")
    return Path(text)


@app.callback()
def front(
    ctx: typer.Context,
    settings: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The settings file. [MEMFLOW_SETTINGS, or ./memflow.toml]"),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            parser=_folder,
            help="The folder of lake, ledger and Dagster instance; overrides the settings.",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Benchmarks of memory in LLM assistants, run as a Dagster graph of data assets."""
    # Unlike `python -m`, the console script does not search the working folder, where a user's own memory may be.
    # It is searched last, so that no file here shadows a package.
    if not {"", str(Path.cwd())} & set(sys.path):
        sys.path.append(str(Path.cwd()))
    ctx.obj = Front(settings, home, debug)
