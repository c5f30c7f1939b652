"""Commands for own dialogues: `memflow init --data`, `memflow data check FILE` and `memflow import chats`."""

import json
import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding

from memflow.cli.output import Format, FormatOption, Text, answer, note, write
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.dialogues.inspection import Inspection

FORMAT_PAGE = "docs/how-to/own-dialogues.md"
LONGEST_NAME = 40
_DOMAINS = re.compile(r"^domains = \[.*\]$", re.MULTILINE)


def is_path(name: str) -> bool:
    """Return whether an argument of `memflow data check` is a file or folder, not the name of a data set."""
    return "/" in name or "." in name or Path(name).exists()


def check_files(names: Sequence[str], form: Format) -> None:
    """Print what the files contain and all their problems. Exits with code 1 if there is a problem."""
    from memflow.benchmarks.dialogues.inspection import inspect_files

    found = inspect_files([Path(name) for name in names])
    shown: list[RenderableType] = [Text(f"{_files(found)}: {_counts(found)}")]
    shown += [Padding(Text(str(each), "red"), (0, 0, 0, 2), expand=False) for each in found.problems]
    data = {
        "files": [str(each) for each in found.files],
        **found.counts(),
        "metrics": dict(found.metrics()),
        "languages": found.languages(),
        "problems": [
            {
                "file": each.file,
                "line": each.where,
                "item": each.item,
                "field": each.field,
                "message": each.text,
            }
            for each in found.problems
        ],
    }
    answer(form, data, *shown, note(_problems(found)))
    if found.problems:
        raise typer.Exit(1)


def init_data(file: Path, data: Sequence[Path], force: bool, form: Format) -> None:
    """Write settings with a domain of own dialogues, and print in five lines what was found and what to type next.

    Raises BadInput if the files have no valid dialogue.
    """
    from memflow.benchmarks.dialogues.inspection import inspect_files

    found = inspect_files(data)
    check = f"memflow data check {' '.join(map(str, data))}"
    if not found.counts()["dialogues"]:
        first = f"; {found.problems[0]}" if found.problems else ""
        raise BadInput(f"{_files(found)} has no valid dialogue{first}. `{check}` lists all problems.")
    name = domain_name(data[0])
    write(file, _settings(name, data, found, file.absolute().parent), force)
    metrics = ", ".join(f"{metric} {number}" for metric, number in found.metrics().items())
    questions = (
        f"Scored by {metrics}." if metrics else f"No questions yet: {FORMAT_PAGE} shows how to add them."
    )
    commands = [check, "memflow run", f"memflow show leaderboard --domain {name}"]
    lines = (
        f"{file} is written, with the domain {name}.",
        f"Found: {_counts(found)}.",
        questions,
        _problems(found, check),
        f"Next: {' · '.join(commands)}",
    )
    answer(
        form,
        {
            "file": str(file.absolute()),
            "domain": name,
            **found.counts(),
            "problems": len(found.problems),
            "next": commands,
        },
        *(Text(line) for line in lines),
    )


def domain_name(path: Path) -> str:
    """Return the name of a domain and data set for a file or folder, which no benchmark uses."""
    from memflow.benchmarks import registry

    stem = path.resolve().name if path.is_dir() else path.stem
    plain = re.sub(r"[^a-z0-9_]+", "_", stem.lower()).strip("_")[:LONGEST_NAME].strip("_") or "own_dialogues"
    taken: Collection[str] = {*registry.domains(), *registry.datasets()}
    return plain if plain not in taken else f"own_{plain}"


def _settings(name: str, data: Sequence[Path], found: "Inspection", folder: Path) -> str:
    """Return the example settings with the domain and its data set. Paths below the folder are relative to it."""
    from resources.settings import example

    text, replaced = _DOMAINS.subn(lambda _: f"domains = [{json.dumps(name)}]", example(), count=1)
    assert replaced, "the example settings have a line of domains"
    files = [_toml(each, folder) for path in data for each in _patterns(path, found)]
    title = json.dumps(f"Own dialogues: {', '.join(path.name for path in data)}", ensure_ascii=False)
    own = f"""
# Your dialogues ({FORMAT_PAGE}). Relative paths begin at the folder of this file.
[own_datasets.{name}]
benchmark = "dialogues"
files = [{", ".join(files)}]

[own_domains.{name}]
benchmark = "dialogues"
datasets = ["{name}"]
title = {title}
# parameters = {{ open_metric = "judge", arrivals = "session" }}
"""
    return text.rstrip("\n") + "\n" + own


def _patterns(path: Path, found: "Inspection") -> list[Path]:
    if not path.is_dir():
        return [path]
    endings = dict.fromkeys(file.suffix for file in found.files if file.parent == path)
    return [path / f"*{ending}" for ending in endings]


def _toml(path: Path, folder: Path) -> str:
    whole = path.absolute()
    shown = whole.relative_to(folder) if whole.is_relative_to(folder) else whole
    return json.dumps(shown.as_posix(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _files(found: "Inspection") -> str:
    names = [str(each) for each in found.files]
    return (
        names[0]
        if len(names) == 1
        else f"{len(names)} files ({', '.join(names[:3])}{', …' * (len(names) > 3)})"
    )


def _counts(found: "Inspection") -> str:
    counts = found.counts()
    parts = [_number(counts[each], each[:-1]) for each in ("dialogues", "messages", "questions")]
    kinds = ("choice", "open", "no answer", "with evidence")
    details = ", ".join(f"{counts[each]:,} {each}" for each in kinds if counts[each])
    languages = f"; language {', '.join(found.languages())}" if found.languages() else ""
    return ", ".join(parts) + (f" ({details}{languages})" if details else "")


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _problems(found: "Inspection", check: str = "") -> str:
    if not found.problems:
        return "No problems."
    listed = f" `{check}` lists them." if check else ""
    return (
        f"{_number(len(found.problems), 'problem')}; what they are in is left out until it is fixed.{listed}"
    )


class BranchChoice(StrEnum):
    """Which branches of a conversation are imported."""

    current = "current"
    all = "all"


def chats(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The export: conversations.json, or the archive with it.")
    ],
    out: Annotated[Path, typer.Argument(metavar="[OUT]", help="The file to write, .csv or .jsonl.")] = Path(
        "chats.csv"
    ),
    separate: Annotated[
        bool,
        typer.Option(
            "--separate", help="A dialogue for each conversation, instead of one with a session for each."
        ),
    ] = False,
    branches: Annotated[
        BranchChoice,
        typer.Option(
            "--branches", help="current: what the assistant showed last; all: also edited messages."
        ),
    ] = BranchChoice.current,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Convert exported chats of ChatGPT or Claude to own dialogues, without questions.

    Nothing is sent anywhere. By default, all conversations are one history in the order of time.
    """
    from memflow.benchmarks.dialogues.chat_exports.convert import convert_chats
    from memflow.benchmarks.dialogues.writing import to_csv, to_jsonl

    if out.suffix not in (".csv", ".jsonl"):
        raise BadInput(f"{out} ends neither with .csv nor with .jsonl. Choose another name.")
    try:
        content = file.read_bytes()
    except OSError as wrong:
        raise BadInput(f"cannot read {file} ({wrong.strerror}). Check the path.") from wrong
    found = convert_chats(str(file), content, separate=separate, branches=branches.value)
    if not found.rows:
        raise BadInput(
            f"{file} has {found.conversations} conversations, but no message with text. Check the export."
        )
    rows = list(found.rows)
    write(out, to_csv(rows, "message") if out.suffix == ".csv" else to_jsonl(rows), force)
    omitted = {reason: number for reason, number in found.omitted.most_common() if number}
    dialogues = len({row["dialogue"] for row in rows})
    data: dict[str, Any] = {
        "file": str(out),
        "source": found.source,
        "conversations": found.conversations,
        "dialogues": dialogues,
        "messages": len(rows),
        "omitted": omitted,
        "faults": list(found.faults),
    }
    left_out = ", ".join(f"{number:,} {reason}" for reason, number in omitted.items())
    answer(
        form,
        data,
        Text(
            f"{out}: {_number(len(rows), 'message')} of {_number(found.conversations, 'conversation')} of "
            f"{found.source}, as {_number(dialogues, 'dialogue')}."
        ),
        *([note(f"Left out: {left_out}.")] if left_out else []),
        *(Text(f"  {fault}", "yellow") for fault in found.faults),
        note(
            "Questions: write questions.csv with the columns dialogue, question, gold, and optionally options, after, "
            f"evidence (ids of messages), type ({FORMAT_PAGE}).\n"
            f"Then: memflow init --data {out} --data questions.csv"
        ),
    )
