"""Inspection of own files before they become a domain: what they contain, and every problem."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.dialogues.config import DialoguesConfig
from memflow.benchmarks.dialogues.dialogues import join_rows
from memflow.benchmarks.dialogues.files import READERS, FileFault, SourceRow, read_rows
from memflow.benchmarks.dialogues.probes import language_of, metric_of
from memflow.benchmarks.own_files import FileProblem, InspectedFiles, OwnFiles
from memflow.errors import BadInput

PAGE = "docs/how-to/data.md"
KINDS = ("choice", "open", "no answer", "with evidence")


def inspect_files(paths: Sequence[Path]) -> InspectedFiles:
    """Return what the files contain, and all their problems. A folder stands for its files.

    Raises BadInput if a path does not exist, or a folder has no file of a known format.
    """
    files = [file for path in paths for file in files_of(path)]
    rows: list[SourceRow] = []
    problems: list[FileProblem] = []
    for file in files:
        try:
            rows += read_rows(str(file), file.read_bytes())
        except FileFault as wrong:
            problems += wrong.problems
        except OSError as wrong:
            raise BadInput(f"cannot read {file} ({wrong.strerror}). Fix its permissions.") from wrong
    dialogues, of_rows = join_rows("", rows)
    if not (problems or dialogues or of_rows):
        problems.append(FileProblem(str(files[0]), "the file", "there is no dialogue; add one"))
    valid = [dialogue for dialogue in dialogues if dialogue.reason is None]
    asked = [(each, question) for each in valid for question in each.questions if question.reason is None]
    languages = sorted(
        {each.fields.language or of.language or language_of(each.fields.question) for of, each in asked}
    )
    metrics = Counter(metric_of(question, DialoguesConfig()) for _, question in asked).most_common()
    counts = {
        "dialogues": len(valid),
        "messages": sum(len(dialogue.messages) for dialogue in valid),
        "questions": len(asked),
        "choice": sum(bool(question.fields.options) for _, question in asked),
        "open": sum(not question.fields.options for _, question in asked),
        "no answer": sum(question.abstain for _, question in asked),
        "with evidence": sum(bool(question.fields.evidence) for _, question in asked),
    }
    return InspectedFiles(
        files,
        {**counts, "metrics": dict(metrics), "languages": languages},
        _in_words(counts, languages),
        f"Scored by {', '.join(f'{metric} {count:,}' for metric, count in metrics)}."
        if metrics
        else f"No valid questions yet: {PAGE} shows how to add them.",
        bool(valid),
        [*problems, *of_rows],
    )


def files_of(path: Path) -> list[Path]:
    """Return the file, or the files of a folder whose format is known, sorted. Raises BadInput."""
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in READERS and each.is_file())
        if not found:
            raise BadInput(
                f"the folder {path} has no file with one of the endings {', '.join(READERS)}. Add one."
            )
        return found
    if not path.is_file():
        raise BadInput(f"there is no file or folder {path}. Check the path.")
    return [path]


def _in_words(counts: Mapping[str, int], languages: Sequence[str]) -> str:
    items = [
        f"{counts[each]:,} {each if counts[each] != 1 else each[:-1]}"
        for each in ("dialogues", "messages", "questions")
    ]
    details = [f"{counts[each]:,} {each}" for each in KINDS if counts[each]]
    if languages:
        details.append(f"in {' and '.join(languages)}")
    return ", ".join(items) + (f" ({', '.join(details)})" if details else "")


OWN_FILES = OwnFiles(inspect_files, PAGE, 'open_metric = "judge", arrivals = "session"')
