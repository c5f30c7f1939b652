"""`export`: what the lake holds as files for others, and for a domain of one's own. A command is a file of its own."""

import typer

from memflow.cli.export_transcript import transcript

export = typer.Typer(no_args_is_help=True, help="Write files from the lake: the dialogues of a run.")
export.command("transcript")(transcript)


@export.callback()
def _several() -> None:
    """Keep `transcript` a name to be said, however many commands there are."""
