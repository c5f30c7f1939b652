"""The command `memflow import chats`."""

import shlex
from pathlib import Path

from memflow.benchmarks.dialogues.chat_exports.convert import convert_chats
from memflow.benchmarks.dialogues.inspection import PAGE
from memflow.benchmarks.dialogues.writing import to_csv, to_jsonl
from memflow.benchmarks.own_files import Conversion
from memflow.benchmarks.views import ExportedFile, Note, Option
from memflow.errors import BadInput


def convert(file: Path, out: Path, separate: bool) -> ExportedFile:
    """Return the text of the file `out` with the messages of an export. Raises BadInput."""
    if out.suffix not in (".csv", ".jsonl"):
        raise BadInput(f"{out} ends neither with .csv nor with .jsonl. Choose another name.")
    try:
        content = file.read_bytes()
    except OSError as wrong:
        raise BadInput(f"cannot read {file} ({wrong.strerror}). Check the path.") from wrong
    found = convert_chats(str(file), content, separate=separate)
    if not found.rows:
        raise BadInput(
            f"{file} has {found.conversations} conversations, but no message with text. Check the export."
        )
    omitted = {reason: number for reason, number in found.omitted.most_common() if number}
    dialogues = len({row["dialogue"] for row in found.rows})
    data = {
        "file": str(out),
        "source": found.source,
        "conversations": found.conversations,
        "dialogues": dialogues,
        "messages": len(found.rows),
        "omitted": omitted,
        "faults": list(found.faults),
    }
    numbers = f"{len(found.rows):,} messages of {found.conversations:,} conversations of {found.source}"
    left_out = ", ".join(f"{number:,} {reason}" for reason, number in omitted.items())
    parts = [
        Note(f"{out}: {numbers}, as {dialogues:,} dialogue{'' if dialogues == 1 else 's'}."),
        *([Note(f"Left out: {left_out}.")] if left_out else []),
        *(Note(fault, warning=True) for fault in found.faults),
        Note(
            "To add questions, write questions.csv with the columns dialogue, question and gold, and optionally "
            f"options, after, evidence (ids of messages) and type ({PAGE}).\n"
            f"Then: memflow init --data {shlex.quote(str(out))} --data questions.csv"
        ),
    ]
    rows = list(found.rows)
    return ExportedFile(to_csv(rows, "message") if out.suffix == ".csv" else to_jsonl(rows), data, parts)


CONVERSIONS = (
    Conversion(
        "chats",
        "Convert exported chats of ChatGPT or Claude (conversations.json, or the archive with it) to own dialogues "
        "without questions. Nothing is sent anywhere. All conversations are one history in the order of time.",
        convert,
        "chats.csv",
        (
            Option(
                "separate",
                "A dialogue for each conversation, instead of one with a session for each.",
                kind=bool,
                default=False,
            ),
        ),
    ),
)
