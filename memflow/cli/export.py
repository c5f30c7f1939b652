"""`export`: what the lake holds as files for others, and for a domain of one's own. A command is a file of its own."""

import typer

from memflow.cli.export_keys import keys
from memflow.cli.export_transcript import transcript
from memflow.cli.export_users import users

export = typer.Typer(
    no_args_is_help=True, help="Write files from the lake: a domain's users or keys, the dialogues of a run."
)
export.command("users")(users)
export.command("transcript")(transcript)
export.command("keys")(keys)
