"""Files of published answers without a declaration: the form is recognized by the shape of the rows, not by names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path

from memflow.errors import BadInput
from memflow.published_runs.blocks import is_blocks
from memflow.published_runs.files import ResultsFile
from memflow.published_runs.forms import Form, forms
from memflow.published_runs.layouts import Layout
from memflow.published_runs.reader import read_files
from memflow.published_runs.rows import PublishedRun

_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


def read_path(
    path: Path, benchmark: str, importable: Mapping[str, str], layout: Layout | None = None
) -> PublishedRun:
    """Return the run of a benchmark in a file, a folder or the files of a pattern such as `results/v05*`.

    The path may end in `#` and a cutoff or system, of which a file has several: `results.json#top_20`.
    `importable` has the titles of the benchmarks with an import. Several files are one run if they have different
    questions. Raises BadInput if no file has a known form of the benchmark, or if several runs are in the files.
    """
    path, choice = split_choice(path)
    files, faults = _read_files(_paths(path), path)
    by_form: dict[str, list[ResultsFile]] = {}
    for file in files:
        form = next((form for form in forms().values() if file.has_form(form)), None)
        if form is not None:
            by_form.setdefault(form.name, []).append(file)
    known = [forms()[name] for name in by_form]
    mine = [form for form in known if form.benchmark == benchmark]
    if not mine:
        raise BadInput(_not_recognized(path, files, known, benchmark, importable))
    if len(mine) > 1:
        names = "; ".join(f"{form.title}: {by_form[form.name][0].name}" for form in mine)
        raise BadInput(f"{path} has results of several forms ({names}). Name a file, or a pattern of names.")
    form = mine[0]
    siblings = files if path.is_dir() or not form.blocks else _read_files(_paths(path.parent), path)[0]
    blocks = next((file for file in siblings if is_blocks(file, form)), None)
    run = read_files(by_form[form.name], form, choice, layout, blocks)
    if len(run.files) > 1:
        _only_run(path, by_form[form.name], form, run.choice, layout)
    if not run.answers:
        first = f" The first fault: {run.faults[0]}." if run.faults else ""
        raise BadInput(f"{path} has no valid answer.{first} Get the file again, then rerun.")
    return replace(run, faults=(*faults, *run.faults))


def _paths(path: Path) -> list[Path]:
    if has_magic(str(path)) and not path.exists():
        paths = sorted({*path.parent.glob(path.name), *path.parent.glob(f"{path.name}.gz")})
    else:
        paths = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in paths if len(paths) == 1 or file.name.endswith(_SUFFIXES)]


def _read_files(paths: Sequence[Path], path: Path) -> tuple[list[ResultsFile], list[str]]:
    """Return the readable files and a fault for each other file. Raises BadInput if none is readable."""
    if not paths:
        raise BadInput(f"{path} has no {' or '.join(_SUFFIXES[:2])} file. Name the results file itself.")
    files: list[ResultsFile] = []
    faults: list[str] = []
    for file in paths:
        try:
            files.append(ResultsFile.read(file))
        except BadInput as error:
            if len(paths) == 1:
                raise
            faults.append(str(error))
    if not files:
        raise BadInput(
            f"none of the {len(paths)} result files of {path} can be read. The first fault: {faults[0]}"
        )
    return files, faults


def _only_run(
    path: Path, files: Sequence[ResultsFile], form: Form, choice: str | None, layout: Layout | None
) -> None:
    """Raise BadInput if two files answer the same question."""
    file_by_question: dict[str, str] = {}
    for file in files:
        for answer in read_files([file], form, choice, layout).answers:
            first = file_by_question.setdefault(answer.question_id or answer.place, file.name)
            if first != file.name:
                raise BadInput(
                    f"{path} has several runs: {first} and {file.name} both answer {answer.question_id}. Name one "
                    "file, or a pattern of names such as 'folder/run1*'."
                )


def _not_recognized(
    path: Path,
    files: Sequence[ResultsFile],
    known: Sequence[Form],
    benchmark: str,
    importable: Mapping[str, str],
) -> str:
    if not known:
        titles = dict.fromkeys(form.title for form in forms().values() if form.benchmark == benchmark)
        return (
            f"{path} has none of the known forms of results. {files[0].name} is {files[0].top_level_text()}. "
            f"Known forms: {'; '.join(titles)}. Choose another file."
        )
    form = known[0]
    if form.benchmark in importable:
        return f"{path} has results of {importable[form.benchmark]} ({form.title}). Use a domain of that benchmark."
    return (
        f"{path} is {form.title}: results of {form.benchmark}, of which memflow has no questions to import into. They "
        "are read for the page of published runs only."
    )


def split_choice(path: Path) -> tuple[Path, str | None]:
    """Return a path without the choice behind `#`, and the choice; None without one, or if the whole path exists."""
    name, _, choice = path.name.partition("#")
    return (path, None) if path.exists() or not choice else (path.with_name(name), choice)


def run_name(path: Path, run: PublishedRun) -> str:
    """Return a name of the run: that of its folder or only file, or the beginning of the pattern."""
    path = split_choice(path)[0]
    if path.is_dir():
        return path.resolve().name
    name = run.files[0] if len(run.files) == 1 else re.split(r"[*?\[]", path.name)[0]
    return name.split(".")[0].rstrip("_-") or run.form
