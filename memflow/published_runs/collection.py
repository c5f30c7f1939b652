"""All runs in a folder of downloads: the declared ones, and other files of a known form."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memflow.errors import BadInput
from memflow.published_runs.blocks import is_blocks
from memflow.published_runs.files import ResultsFile
from memflow.published_runs.forms import declared_runs
from memflow.published_runs.reader import read_files, read_run, run_files
from memflow.published_runs.recognition import recognize
from memflow.published_runs.rows import DeclaredRun, PublishedRun

_FILES = re.compile(r".+\.jsonl?(\.gz)?", re.IGNORECASE)
NOT_DECLARED = "not declared"


def read_folder(folder: Path) -> tuple[list[PublishedRun], dict[str, str]]:
    """Return the runs in a folder, and a reason for each that is there and cannot be read.

    A file that no declared run names is read if its form is known. It has the system and source of the declared runs of
    its folder, but no claim, and only the reader and the judge that the file itself states. Raises BadInput without any
    run.
    """
    runs, unreadable, used = [], {}, set()
    for declared in declared_runs():
        try:
            paths = run_files(folder, declared)
        except BadInput:
            continue  # not downloaded
        used |= {*paths}
        try:
            runs.append(read_run(folder, declared))
        except BadInput as error:
            unreadable[declared.id] = str(error)
    groups: dict[tuple[Path, str, str], list[ResultsFile]] = {}
    for path in sorted({*folder.rglob("*")} - used):
        if path.is_file() and _FILES.fullmatch(path.name):
            try:
                file = ResultsFile.read(path)
            except BadInput as error:
                unreadable[path.name] = str(error)
                continue
            if (form := recognize(file)) is not None:
                pattern = re.sub(r"\d+", "#", file.name)
                groups.setdefault((path.parent, form.name, pattern), []).append(file)
    for (parent, _, _), files in groups.items():
        try:
            runs += _undeclared_runs(parent, files)
        except BadInput as error:
            unreadable[files[0].name] = str(error)
    if not runs:
        reason = next(iter(unreadable.values()), "it has no file of a known form")
        raise BadInput(
            f"{folder} has no published run that can be read: {reason}. Download files that the page of published runs "
            "names, or others of these forms."
        )
    return runs, unreadable


def _undeclared_runs(folder: Path, files: Sequence[ResultsFile]) -> Iterator[PublishedRun]:
    """Yield the files as one run if they have different questions, or else one run per file."""
    form = recognize(files[0])
    if form is None:
        return
    companions = sorted(folder.glob("*.json*")) if form.blocks else []
    blocks = next((file for path in companions if is_blocks(file := ResultsFile.read(path), form)), None)
    parts = [read_files([file], form, blocks=blocks) for file in files]
    ids = [answer.question_id or answer.place for part in parts for answer in part.answers]
    whole = [read_files(files, form, blocks=blocks)] if len(ids) == len({*ids}) else parts
    template = next(
        (run for run in declared_runs() if run.folder == folder.name and run.form == form.name), None
    )
    for run in whole:
        if run.answers:
            yield replace(run, declaration=_declaration(folder, run, template))


def _declaration(folder: Path, run: PublishedRun, template: DeclaredRun | None) -> DeclaredRun:
    stem = run.files[0].partition(".json")[0]
    more = f" and {len(run.files) - 1} more" if len(run.files) > 1 else ""
    return DeclaredRun(
        id=f"{folder.name}: {stem}{more}",
        system=template.system if template else run.header.get("system", folder.name),
        benchmark=run.benchmark,
        folder=folder.name,
        files=run.files,
        form=run.form,
        judge="not stated",
        license=template.license if template else NOT_DECLARED,
        source=template.source.partition(" ")[0] if template else NOT_DECLARED,
        role=template.role if template else "system",
    )
