"""The command class of `memflow gate`, whose exit codes 1 and 2 are decisions and nothing else."""

import traceback
from typing import Any

import typer

from memflow.cli.front import front_of
from memflow.cli.moments import MomentCommand
from memflow.cli.output import message
from memflow.errors import MemflowError
from memflow.scoring.decisions import MISUSE


class GateCommand(MomentCommand):
    """A command that exits with MISUSE for a wrong command line, an unusable file and any other error."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().make_context(*arguments, **options)
        except typer.exceptions.TyperException as wrong:
            # The errors of a command line, which typer prints, have the exit code 2.
            wrong.exit_code = MISUSE
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except MemflowError as wrong:
            if front_of(ctx).debug:
                traceback.print_exc()
            message(f"memflow: {wrong}")
        except Exception:  # noqa: BLE001  (Python's exit code for an exception is 1, a regression)
            traceback.print_exc()
        raise typer.Exit(MISUSE)
