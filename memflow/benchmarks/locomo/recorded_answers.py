"""Answers to LoCoMo's questions that memory vendors publish with a judge's labels, read from a file.

recorded_forms.py has the forms of such files. An invalid answer is skipped and reported with its place;
results_import.py uses the valid answers.
"""

import hashlib
import json
from pathlib import Path

from memflow.benchmarks.locomo.recorded_forms import FORMS, RecordedAnswers
from memflow.errors import BadInput

MAX_BYTES = 200_000_000
"""The largest file that is read; the published files have about 1 MB."""


def read_answers(path: Path) -> RecordedAnswers:
    """Return the answers in a file, or in the only JSON file of a folder.

    Raises BadInput for a missing, unreadable or unknown file, and if no answer is valid.
    """
    path = _only_file(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(
                f"{path} has more than {MAX_BYTES:,} bytes and is no results file. Choose another file."
            )
        content = path.read_bytes()
        data = json.loads(content.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"cannot read {path} as JSON ({error}). Get the file again, then rerun.") from error
    name, digest = path.name.split(".")[0], hashlib.sha256(content).hexdigest()[:16]
    for form in FORMS:
        if (answers := form(data, name, digest)) is not None:
            if not any(answers.answers.values()):
                first = f" The first fault: {answers.faults[0]}." if answers.faults else ""
                raise BadInput(f"{path} has no valid answer.{first} Get the file again, then rerun.")
            return answers
    raise BadInput(
        f"{path} has none of the known forms of results: an object of answers by conversation (Mem0 2025, Memobase, "
        "Zep), or an object with `metadata` and `evaluations` (Mem0 2026). Choose another file."
    )


def _only_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = sorted(file for file in path.iterdir() if file.suffix == ".json")
    if len(files) != 1:
        raise BadInput(f"{path} has {len(files)} JSON files. Name the results file itself.")
    return files[0]
