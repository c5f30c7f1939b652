"""`memflow init --data` and `memflow data check FILE`: own files, in the format that a benchmark declares."""

import glob
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.options import argument
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.errors import BadInput
from memflow.rendering.tables import Text
from memflow.rendering.texts import inset, note

if TYPE_CHECKING:
    from memflow.benchmarks.own_files import InspectedFiles

LONGEST_NAME = 40
_DOMAINS = re.compile(r"^domains = \[.*\]$", re.MULTILINE)


def check(
    names: Annotated[list[Path], argument("FILE...", "Files and folders of own dialogues.")],
    form: FormatOption = Format.table,
) -> None:
    """Read files of own dialogues, and list every problem with its line and field.

    Any problem gives the exit code 1. Files of published data sets are compared with their checksums by `memflow data
    get`, and each invalid record that `memflow run` leaves out has its reason in raw.records.
    """
    found = _inspected(names)
    problems = [asdict(problem) for problem in found.problems]
    print_result(
        form,
        {"files": [str(file) for file in found.files], **found.data, "problems": problems},
        Text(f"{_files(found)}: {found.contents}"),
        *(inset(str(problem), "red") for problem in found.problems),
        note(_problems(found)),
    )
    if found.problems:
        raise typer.Exit(1)


def init_data(file: Path, data: Sequence[Path], force: bool, form: Format) -> None:
    """Write settings with a domain of own files, and print in five lines what was found and what to type next.

    Raises BadInput if the files have no valid item.
    """
    found = _inspected(data)
    check = f"memflow data check {shlex.join(map(str, data))}"
    if not found.usable:
        first = f": {found.problems[0]}" if found.problems else ""
        raise BadInput(f"nothing in {_files(found)} can be used{first}. `{check}` lists all problems.")
    name = domain_name(data[0])
    write(file, _settings(name, data, found, file.absolute().parent), force)
    default = file.absolute() == Path("memflow.toml").absolute()
    program = "memflow" if default else f"memflow --settings {shlex.quote(str(file))}"
    commands = [check, f"{program} run", f"{program} show leaderboard --domain {name}"]
    lines = (
        f"{file} is written, with the domain {name}.",
        f"Found: {found.contents}.",
        found.scoring,
        _problems(found) + (f" `{check}` lists them." if found.problems else ""),
        f"Next: {' · '.join(commands)}",
    )
    summary = {"domain": name, **found.data, "problems": len(found.problems)}
    print_result(
        form, {"file": str(file.absolute()), **summary, "next": commands}, *(Text(line) for line in lines)
    )


def domain_name(path: Path) -> str:
    """Return the name of a domain and data set for a file or folder, which no benchmark uses."""
    from memflow.benchmarks import registry

    stem = path.resolve().name if path.is_dir() else path.stem
    plain = re.sub(r"[^a-z0-9_]+", "_", stem.lower()).strip("_")[:LONGEST_NAME].strip("_") or "own_data"
    return f"own_{plain}" if plain in {*registry.domains(), *registry.datasets()} else plain


def _inspected(paths: Sequence[Path]) -> "InspectedFiles":
    from memflow.benchmarks import registry
    from memflow.cli.views import loaded

    _, own = registry.own_files()
    found: InspectedFiles = loaded(own.inspect)(paths)
    return found


def _settings(name: str, data: Sequence[Path], found: "InspectedFiles", folder: Path) -> str:
    """Return the example settings with the domain and its data set. Paths below the folder are relative to it."""
    from memflow.benchmarks import registry
    from memflow.resources.settings.settings import example

    benchmark, own = registry.own_files()
    text, replaced = _DOMAINS.subn(lambda _: f"domains = [{json.dumps(name)}]", example(), count=1)
    assert replaced, "the example settings have a line of domains"
    files = [_toml(each, folder) for path in data for each in _patterns(path, found)]
    title = json.dumps(", ".join(path.name for path in data), ensure_ascii=False)
    lines = [
        "",
        f"# Your own data ({own.page}). Relative paths begin at the folder of this file.",
        f"[own_datasets.{name}]",
        f'benchmark = "{benchmark}"',
        f"files = [{', '.join(files)}]",
        "",
        f"[own_domains.{name}]",
        f'benchmark = "{benchmark}"',
        f'datasets = ["{name}"]',
        f"title = {title}",
        *([f"# parameters = {{ {own.parameters} }}"] if own.parameters else []),
    ]
    return text.rstrip("\n") + "\n" + "\n".join(lines) + "\n"


def _patterns(path: Path, found: "InspectedFiles") -> list[Path]:
    if not path.is_dir():
        return [path]
    endings = dict.fromkeys(file.suffix for file in found.files if file.parent == path)
    # The name of the folder may contain characters of patterns.
    return [Path(glob.escape(str(path))) / f"*{ending}" for ending in endings]


def _toml(path: Path, folder: Path) -> str:
    whole = path.absolute()
    shown = whole.relative_to(folder) if whole.is_relative_to(folder) else whole
    return json.dumps(shown.as_posix(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _files(found: "InspectedFiles") -> str:
    names = [str(each) for each in found.files]
    if len(names) == 1:
        return names[0]
    return f"{len(names)} files ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"


def _problems(found: "InspectedFiles") -> str:
    count = len(found.problems)
    if not count:
        return "No problems."
    return f"{count:,} problem{'' if count == 1 else 's'}; what they are in is left out until it is fixed."
