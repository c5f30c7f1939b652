"""What a reader reports about invalid files, whether it rejects a file or quarantines records."""

from collections.abc import Callable

from memflow.errors import BadInput
from memflow.records import Record


def reported_faults(read: Callable[[], list[Record]]) -> str:
    """Return the message of a rejected file, or the files and reasons of the quarantined records, one per line."""
    try:
        records = read()
    except BadInput as rejected:
        return str(rejected)
    return "\n".join(f"{record.source}: {record.reason}" for record in records if record.reason is not None)
