"""Messages on damaged partitions: those that a command leaves out, and the command that repairs them."""

from collections.abc import Mapping, Sequence

from memflow.cli.output import message

REPAIR = "memflow repair"


def note_left_out(left_out: Mapping[str, Sequence[str]]) -> None:
    """Print the partitions that are not in a result because their files are damaged; nothing if there are none."""
    for table, partitions in left_out.items():
        message(
            f"memflow: not in the result, because the file is damaged: {table} of {', '.join(partitions)}. Run "
            f"`{REPAIR}`."
        )
