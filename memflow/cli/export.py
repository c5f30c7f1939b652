"""`memflow export`: write recorded runs, and the exports that benchmarks declare, to files for other programs."""

import typer

from memflow.cli.export_transcript import transcript
from memflow.cli.export_verdicts import verdicts
from memflow.cli.views import ExportGroup

export = typer.Typer(
    cls=ExportGroup,
    no_args_is_help=True,
    help="Write files from the lake: recorded runs, verdicts, users, gold labels.",
)
export.command("transcript")(transcript)
export.command("verdicts")(verdicts)
