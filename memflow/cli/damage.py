"""The message on damaged partitions that a command leaves out."""

from collections.abc import Mapping

from memflow.cli.output import message


def note_left_out(left_out: Mapping[str, Mapping[str, str]]) -> None:
    """Print, for each table, the partitions that are not in a result, and why; nothing if there are none."""
    for table, reasons in left_out.items():
        reason, *others = reasons.values()
        more = f" `memflow doctor` names the commands for {len(others)} more of {table}." if others else ""
        message(f"memflow: not in the result: {reason}{more}")
