"""The command `memflow import chats`."""

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.dialogues.chat_exports.convert import convert_chats
from memflow.benchmarks.dialogues.inspection import PAGE
from memflow.benchmarks.own_files import Conversion
from memflow.benchmarks.views import ExportedFile, Note
from memflow.errors import BadInput


def convert(file: Path, out: Path) -> ExportedFile:
    """Return the text of the file `out` with the messages of an export. Raises BadInput."""
    if out.suffix != ".csv":
        raise BadInput(f"{out} does not end with .csv. Choose another name.")
    try:
        content = file.read_bytes()
    except OSError as wrong:
        raise BadInput(f"cannot read {file} ({wrong.strerror}). Check the path.") from wrong
    found = convert_chats(str(file), content)
    if not found.rows:
        raise BadInput(
            f"{file} has {found.conversations} conversations, but no message with text. Check the export."
        )
    omitted = {reason: number for reason, number in found.omitted.most_common() if number}
    data = {
        "file": str(out),
        "source": found.source,
        "conversations": found.conversations,
        "messages": len(found.rows),
        "omitted": omitted,
        "faults": list(found.faults),
    }
    numbers = f"{len(found.rows):,} messages of {found.conversations:,} conversations of {found.source}"
    left_out = ", ".join(f"{number:,} {reason}" for reason, number in omitted.items())
    parts = [
        Note(f"{out}: {numbers}, as one dialogue."),
        *([Note(f"Left out: {left_out}.")] if left_out else []),
        *(Note(fault, warning=True) for fault in found.faults),
        Note(
            "To add questions, write questions.csv with the columns dialogue, question and gold, and optionally "
            f"options, after, evidence (ids of messages) and type ({PAGE}).\n"
            f"Then: memflow init --data {shlex.quote(str(out))} --data questions.csv"
        ),
    ]
    return ExportedFile(to_csv(found.rows), data, parts)


def to_csv(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows as CSV. A cell with a carriage return is quoted only if the line ending contains one."""
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, rows[0], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


CONVERSIONS = (
    Conversion(
        "chats",
        "Convert exported chats of ChatGPT or Claude (conversations.json, or the archive with it) to own dialogues "
        "without questions. Nothing is sent anywhere. All conversations are one history in the order of time.",
        convert,
        "chats.csv",
    ),
)
