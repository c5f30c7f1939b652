"""The global options of a command."""

import typer

from memflow.operations.front import Front


def front_of(ctx: typer.Context) -> Front:
    """Return the global options of a command."""
    return ctx.obj if isinstance(ctx.obj, Front) else Front()
