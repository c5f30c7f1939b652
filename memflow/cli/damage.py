"""Messages on damaged partitions: those that a command leaves out, and the command that names the next step."""

from collections.abc import Mapping, Sequence

from memflow.cli.output import message


def note_left_out(left_out: Mapping[str, Sequence[str]]) -> None:
    """Print the partitions that are not in a result because their files are damaged; nothing if there are none."""
    for table, partitions in left_out.items():
        message(
            f"memflow: not in the result, because the file is damaged: {table} of {', '.join(partitions)}. Run "
            "`memflow doctor`, which names the command that rebuilds it."
        )
