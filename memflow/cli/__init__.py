"""The front door: `memflow COMMAND`. A command imports what it needs of the outer rooms when it is called.

selection.py   what a run or a plan is about          output.py     how an answer is printed
plan.py        what a run would cost (forecast.py)     run.py        the walk, through Dagster; dev.py: its UI
show.py        the leaderboard, the verdicts          probe.py      one probe, shown whole
finetune.py    an adapter from what users liked or copied
memory.py      what a memory held, and when (held.py)  policies.py   on-policy against off-policy
plot.py        figures by period, as pictures
checks.py      the rules of the tables, and the rows that violate them
annotate.py    a sample for people to judge, and how far they agree
usage.py       usage of the models                        query.py      SQL over the lake
export.py      files from the lake: export_users.py, as their benchmark publishes them; export_transcript.py, a run
catalogue.py   domains, data sets                     memories.py   memory systems, a user's own among them
setup.py       init and doctor (health.py)
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memflow.cli.annotate import annotate
from memflow.cli.catalogue import data, domains
from memflow.cli.checks import checks
from memflow.cli.dev import dev
from memflow.cli.export import export
from memflow.cli.finetune import finetune
from memflow.cli.memories import memories
from memflow.cli.output import message
from memflow.cli.plan import plan
from memflow.cli.plot import plot
from memflow.cli.query import sql
from memflow.cli.run import run
from memflow.cli.selection import Front
from memflow.cli.setup import doctor, init
from memflow.cli.show import show
from memflow.cli.usage import usage
from memflow.errors import MemflowError


class _Commands(TyperGroup):
    """A mistake that memflow knows is one line on standard error, and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except MemflowError as wrong:
            front = ctx.obj
            if isinstance(front, Front) and front.debug:
                raise
            message(f"memflow: {wrong}")
            raise typer.Exit(1) from wrong


app = typer.Typer(
    name="memflow",
    cls=_Commands,
    help="Benchmarks of memory in LLM assistants, run as a Dagster graph of data assets.",
    epilog="To begin: `memflow run --demo`. For models and data of one's own: `memflow init`.",
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
        typer.Option(metavar="FILE", help="The settings, where not MEMFLOW_SETTINGS or ./memflow.toml."),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where lake, ledger and instance are; over what the settings say."
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the code a mistake came up.")] = False,
) -> None:
    """Benchmarks of memory in LLM assistants, run as a Dagster graph of data assets."""
    # The console script does not look for modules here, as `python -m` and Dagster do; a memory of one's own may
    # lie here. Last, so that no file here hides a package.
    if not {"", str(Path.cwd())} & set(sys.path):
        sys.path.append(str(Path.cwd()))
    ctx.obj = Front(settings, home, debug)


MEASURE, LOOK, KNOW, BEGIN = "Measure", "Look at what came of it", "What there is", "Set up"

app.command(rich_help_panel=MEASURE)(run)
app.command(rich_help_panel=MEASURE)(plan)
app.command(rich_help_panel=MEASURE)(dev)
app.command(rich_help_panel=MEASURE)(finetune)
app.add_typer(show, name="show", rich_help_panel=LOOK)
app.add_typer(export, name="export", rich_help_panel=LOOK)
app.command(rich_help_panel=LOOK)(plot)
app.add_typer(annotate, name="annotate", rich_help_panel=LOOK)
app.command(rich_help_panel=LOOK)(checks)
app.command(rich_help_panel=LOOK)(usage)
app.command("accounts", hidden=True, help="The former name of `usage`.")(usage)
app.command(rich_help_panel=LOOK)(sql)
app.command(rich_help_panel=KNOW)(domains)
app.command(rich_help_panel=KNOW)(memories)
app.command(rich_help_panel=KNOW)(data)
app.command(rich_help_panel=BEGIN)(init)
app.command(rich_help_panel=BEGIN)(doctor)
