"""`memflow COMMAND`: the command line. Each command imports other packages only when it runs.

Each command is in the module of the same name. views.py adds the commands that benchmarks declare for `show`, `export`
and `plot`. Shared modules are selection.py (options, settings) and output.py (text, JSON, CSV).
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memflow.cli.annotate import annotate
from memflow.cli.bench import bench
from memflow.cli.budget import budget
from memflow.cli.catalog import data, domains
from memflow.cli.checks import checks
from memflow.cli.compare import compare
from memflow.cli.copy_lake import copy_lake
from memflow.cli.dev import dev
from memflow.cli.export import export
from memflow.cli.finetune import finetune
from memflow.cli.front import Front
from memflow.cli.gc import gc
from memflow.cli.imports import imports
from memflow.cli.judges import judges
from memflow.cli.ledger import ledger
from memflow.cli.memories import memories
from memflow.cli.models import models
from memflow.cli.moments import MomentCommand
from memflow.cli.output import message
from memflow.cli.plan import plan
from memflow.cli.plot import plot
from memflow.cli.prompts import prompts
from memflow.cli.query import sql
from memflow.cli.repair import repair
from memflow.cli.report import report, view
from memflow.cli.run import run
from memflow.cli.runs import runs
from memflow.cli.setup import doctor, init
from memflow.cli.show import show
from memflow.cli.usage import usage
from memflow.errors import MemflowError


class _Commands(TyperGroup):
    """A command group that prints a MemflowError as one line on standard error and exits with code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except MemflowError as wrong:
            front = ctx.obj
            if isinstance(front, Front) and front.debug:
                raise
            message(f"memflow: {wrong}")
            raise typer.Exit(1) from wrong
        except OSError as wrong:
            from resources.files.disks import os_fault

            named = wrong.filename if isinstance(wrong.filename, str) else "the home folder"
            if not (fault := os_fault(wrong, Path(named))):
                raise
            message(f"memflow: {fault}")
            raise typer.Exit(1) from wrong


app = typer.Typer(
    name="memflow",
    cls=_Commands,
    help="Benchmarks of memory in LLM assistants, run as a Dagster graph of data assets.",
    epilog="Start with `memflow run --demo`. To use your own models and data: `memflow init`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
            metavar="FOLDER", help="The folder of lake, ledger and Dagster instance; overrides the settings."
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


RUN, RESULTS, STORAGE, CATALOG, SETUP = (
    "Run",
    "Results",
    "Usage and storage",
    "Benchmarks, memories, data and models",
    "Set up",
)

app.command(rich_help_panel=RUN)(run)
app.command(rich_help_panel=RUN)(plan)
app.command(rich_help_panel=RUN)(dev)
app.command(rich_help_panel=RUN)(finetune)
app.add_typer(imports, name="import", rich_help_panel=RUN)
app.add_typer(show, name="show", rich_help_panel=RESULTS)
app.command(cls=MomentCommand, rich_help_panel=RESULTS)(compare)
app.add_typer(export, name="export", rich_help_panel=RESULTS)
app.command(rich_help_panel=RESULTS)(plot)
app.command(cls=MomentCommand, rich_help_panel=RESULTS)(report)
app.command(rich_help_panel=RESULTS)(view)
app.add_typer(annotate, name="annotate", rich_help_panel=RESULTS)
app.command(rich_help_panel=RESULTS)(checks)
app.command(cls=MomentCommand, rich_help_panel=RESULTS)(runs)
app.command(cls=MomentCommand, rich_help_panel=RESULTS)(sql)
app.command(rich_help_panel=STORAGE)(usage)
app.command("accounts", hidden=True, help="The former name of `usage`.")(usage)
app.add_typer(budget, name="budget", rich_help_panel=STORAGE)
app.add_typer(ledger, name="ledger", rich_help_panel=STORAGE)
app.command(rich_help_panel=STORAGE)(repair)
app.command(rich_help_panel=STORAGE)(gc)
app.command("copy-lake", rich_help_panel=STORAGE)(copy_lake)
app.command(rich_help_panel=CATALOG)(domains)
app.add_typer(memories, name="memories", rich_help_panel=CATALOG)
app.add_typer(prompts, name="prompts", rich_help_panel=CATALOG)
app.add_typer(judges, name="judges", rich_help_panel=CATALOG)
app.add_typer(data, name="data", rich_help_panel=CATALOG)
app.add_typer(models, name="models", rich_help_panel=CATALOG)
app.add_typer(bench, name="bench", rich_help_panel=CATALOG)
app.command(rich_help_panel=SETUP)(init)
app.command(rich_help_panel=SETUP)(doctor)
