"""Inspection of own files before they become a domain: what they contain, and every problem.

`memflow data check FILE` and `memflow init --data FILE` print it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memflow.benchmarks.dialogues.config import DialoguesConfig
from memflow.benchmarks.dialogues.dialogues import OwnDialogue, OwnQuestion, join_rows
from memflow.benchmarks.dialogues.files import READERS, FileFault, Problem, SourceRow, read_rows
from memflow.benchmarks.dialogues.probes import language_of, metric_of
from memflow.errors import BadInput


@dataclass(frozen=True)
class Inspection:
    """The files, the dialogues in them, and all problems."""

    files: Sequence[Path]
    dialogues: Sequence[OwnDialogue]
    problems: Sequence[Problem]

    @property
    def questions(self) -> list[OwnQuestion]:
        """The valid questions of valid dialogues."""
        return [
            question
            for dialogue in self.dialogues
            if dialogue.reason is None
            for question in dialogue.questions
            if question.reason is None
        ]

    def counts(self) -> dict[str, int]:
        """Return the numbers of valid dialogues, messages and questions, by kind."""
        valid, questions = [each for each in self.dialogues if each.reason is None], self.questions
        return {
            "dialogues": len(valid),
            "messages": sum(len(each.messages) for each in valid),
            "questions": len(questions),
            "choice": sum(bool(each.options) for each in questions),
            "open": sum(not each.options for each in questions),
            "no answer": sum(each.abstain for each in questions),
            "with evidence": sum(bool(each.evidence) for each in questions),
        }

    def metrics(self) -> Mapping[str, int]:
        """Return the number of questions by metric, most frequent first."""
        config = DialoguesConfig()
        return dict(Counter(metric_of(each, config) for each in self.questions).most_common())

    def languages(self) -> list[str]:
        """Return the languages of the valid questions."""
        found = {
            question.language or dialogue.language or language_of(question.question)
            for dialogue in self.dialogues
            for question in dialogue.questions
            if dialogue.reason is None and question.reason is None
        }
        return sorted(found)


def inspect_files(paths: Sequence[Path]) -> Inspection:
    """Return what the files contain, and all their problems. A folder stands for its files.

    Raises BadInput if a path does not exist, or a folder has no file of a known format.
    """
    files = [file for path in paths for file in files_of(path)]
    rows: list[SourceRow] = []
    problems: list[Problem] = []
    for file in files:
        try:
            rows += read_rows(str(file), file.read_bytes())
        except FileFault as wrong:
            problems += wrong.problems
        except OSError as wrong:
            raise BadInput(f"cannot read {file} ({wrong.strerror}). Fix its permissions.") from wrong
    dialogues, of_rows = join_rows("", rows)
    if not problems and not dialogues and not of_rows:
        problems.append(Problem(", ".join(map(str, files)), "the file", "there is no dialogue; add one"))
    return Inspection(files, dialogues, [*problems, *of_rows])


def files_of(path: Path) -> list[Path]:
    """Return the file, or the files of a folder whose format is known, sorted. Raises BadInput."""
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in READERS and each.is_file())
        if not found:
            raise BadInput(f"the folder {path} has no file with one of the endings {', '.join(READERS)}.")
        return found
    if not path.is_file():
        raise BadInput(f"there is no file or folder {path}. Check the path.")
    return [path]
