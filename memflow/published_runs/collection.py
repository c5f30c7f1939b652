"""Declared runs in a folder of downloads."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memflow.errors import BadInput
from memflow.published_runs.files import ResultsFile
from memflow.published_runs.forms import declared_runs, forms
from memflow.published_runs.reader import read_files
from memflow.published_runs.rows import DeclaredRun, PublishedRun


def read_folder(folder: Path) -> tuple[list[PublishedRun], dict[str, str]]:
    """Return the declared runs in a folder, and a reason for each that is there and cannot be read.

    Raises BadInput without any run.
    """
    runs, unreadable = [], {}
    for declared in declared_runs():
        try:
            paths = run_files(folder, declared)
        except BadInput:
            continue  # not downloaded
        try:
            runs.append(_read(folder, declared, paths))
        except BadInput as error:
            unreadable[declared.id] = str(error)
    if not runs:
        reason = next(iter(unreadable.values()), "it has no file of a declared run")
        raise BadInput(
            f"{folder} has no published run that can be read: {reason}. Download files that the page of published runs "
            "names."
        )
    return runs, unreadable


def read_run(folder: Path, run: DeclaredRun) -> PublishedRun:
    """Return a declared run from its files in `run.folder` in or beside `folder`, or in `folder`.

    Raises BadInput if a file is missing or damaged, or has another form.
    """
    return _read(folder, run, run_files(folder, run))


def _read(folder: Path, run: DeclaredRun, paths: Sequence[Path]) -> PublishedRun:
    """Return a run from its files, with a fault for each whose content is not that of the declaration."""
    form = forms()[run.form]
    files = [ResultsFile.read(path) for path in paths]
    for file in files:
        if not file.has_form(form):
            raise BadInput(
                f"{file.path} is not of the form {form.name} ({form.title}): it has {file.top_level_text()}."
            )
    blocks = [ResultsFile.read(path) for path in _found(folder, run, run.companions.get("blocks"))]
    read = read_files(
        files, form, run.choice, blocks=blocks[0] if blocks else None, conversation=run.conversation
    )
    faults = [
        f"{file.name}: the content is not that of the declared run (SHA-256 {file.digest[:12]})"
        for file in files
        if run.sha256.get(file.name, file.digest) != file.digest
    ]
    return replace(
        read, declaration=run, contract=run.contract or read.contract, faults=(*faults, *read.faults)
    )


def run_files(folder: Path, run: DeclaredRun) -> list[Path]:
    """Return the files of a declared run. Raises BadInput if a pattern has none."""
    return [path for pattern in run.files for path in _found(folder, run, pattern)]


def _found(folder: Path, run: DeclaredRun, pattern: str | None) -> list[Path]:
    roots = (folder / run.folder, folder.parent / run.folder, folder)
    root = next(root for root in roots if root.is_dir() or root == folder)
    paths = sorted({*root.glob(pattern), *root.glob(f"{pattern}.gz")}) if pattern else []
    if pattern and not paths:
        raise BadInput(f"{run.id}: no file {pattern} in {root}. Download it from {run.source}.")
    return paths
