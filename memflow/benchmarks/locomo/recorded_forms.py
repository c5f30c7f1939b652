"""The forms of files in which memory vendors publish their answers to LoCoMo's questions.

`mem0_2025`  evaluation of Mem0 (2025), also of Memobase: an object from conversation number to a list of answers with
             `question`, `answer` (gold), `response`, `category`, `llm_score`, `f1_score`
`zep`        Zep: an object from `locomo_experiment_user_N` to a list with `question`, `answer` (of the system),
             `golden_answer`, `category`, `grade`
`mem0_2026`  evaluation of Mem0 (2026): `metadata` and a list `evaluations`, whose answers are by cutoff (the number of
             memories in the prompt); the largest cutoff is read
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, field_validator

from memflow.benchmarks.raw_records import first_error

_NUMBER = re.compile(r"(?:locomo_experiment_user_)?(\d{1,6})")
_CUTOFF = re.compile(r"top_(\d{1,6})")
_QUESTION_ID = re.compile(r"conv(\d{1,6})_q(\d{1,6})")
LABELS = {"CORRECT": 1.0, "WRONG": 0.0}


class RecordedAnswer(BaseModel):
    """An answer: the question with its published gold, the response, and the label as 1, 0, or None without a label.

    `judged` is false if the file has no label because no judge was asked.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str = Field(min_length=1)
    gold: str
    response: str
    category: int = Field(ge=1, le=5)
    label: float | None = Field(ge=0, le=1)
    judged: bool
    f1: float | None = Field(None, ge=0, le=1)

    @field_validator("gold", mode="before")
    @classmethod
    def _number_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @field_validator("question", "gold")
    @classmethod
    def _without_outer_space(cls, value: str) -> str:
        return value.strip()

    @field_validator("question", "gold", "response")
    @classmethod
    def _is_unicode(cls, value: str) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("the text has half of a surrogate pair, so it is not Unicode") from None
        return value


@dataclass(frozen=True)
class RecordedAnswers:
    """The answers of one system: those of each conversation, by its position in LoCoMo's file, in order.

    `contract` is the judge contract of the labels. `faults` has a message for each invalid answer.
    """

    form: str
    contract: str
    name: str
    model: str
    digest: str
    settings: Mapping[str, Any]
    answers: Mapping[int, Sequence[RecordedAnswer]]
    faults: list[str] = field(default_factory=list)


def _read_mem0_2025(data: Any, name: str, digest: str) -> RecordedAnswers | None:
    def convert(row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "question": row["question"],
            "gold": row["answer"],
            "response": row["response"],
            "category": row["category"],
            "label": row.get("llm_score"),
            "judged": "llm_score" in row,
            "f1": row.get("f1_score"),
        }

    return _by_conversation(data, "mem0_2025", "response", convert, name, digest)


def _read_zep(data: Any, name: str, digest: str) -> RecordedAnswers | None:
    def convert(row: Mapping[str, Any]) -> dict[str, Any]:
        grade = row.get("grade")
        return {
            "question": row["question"],
            "gold": row["golden_answer"],
            "response": row["answer"],
            "category": row["category"],
            "label": None if grade is None else float(_Grade(grade=grade).grade),
            "judged": "grade" in row,
        }

    return _by_conversation(data, "zep", "golden_answer", convert, name, digest)


class _Grade(BaseModel):
    grade: StrictBool


def _by_conversation(
    data: Any,
    form: str,
    marker: str,
    convert: Callable[[Mapping[str, Any]], dict[str, Any]],
    name: str,
    digest: str,
) -> RecordedAnswers | None:
    """Return the answers of an object by conversation, or None if no row has the key `marker`."""
    if not isinstance(data, dict) or not any(
        isinstance(row, dict) and marker in row
        for rows in data.values()
        if isinstance(rows, list)
        for row in rows
    ):
        return None
    answers: dict[int, list[RecordedAnswer]] = {}
    faults: list[str] = []
    for key, rows in data.items():
        number = _NUMBER.fullmatch(key)
        if number is None or not isinstance(rows, list):
            faults.append(f"{_printable(key)}: not a list of answers of a conversation")
            continue
        located = ((f"conversation {number[1]}, answer {index}", row) for index, row in enumerate(rows))
        answers.setdefault(int(number[1]), []).extend(_valid_answers(located, convert, faults))
    return RecordedAnswers(form, "j_2025", name, "unknown", digest, {"form": form}, answers, faults)


def _read_mem0_2026(data: Any, name: str, digest: str) -> RecordedAnswers | None:
    """Return the answers in a file of Mem0's evaluation of 2026, of its largest cutoff; None for another form."""
    if not isinstance(data, dict) or not isinstance(data.get("evaluations"), list):
        return None
    rows = [row for row in data["evaluations"] if isinstance(row, dict)]
    cutoffs = {
        cutoff
        for row in rows
        if isinstance(row.get("cutoff_results"), dict)
        for cutoff in row["cutoff_results"]
        if _CUTOFF.fullmatch(cutoff)
    }
    largest = max(cutoffs, key=lambda cutoff: int(cutoff.removeprefix("top_")), default="")
    faults = [
        f"the results of cutoff {_printable(cutoff)} are not imported"
        for cutoff in sorted(cutoffs - {largest})
    ]
    faults += [
        f"evaluation {position} is not an object"
        for position, row in enumerate(data["evaluations"])
        if not isinstance(row, dict)
    ]

    def convert(row: Mapping[str, Any]) -> dict[str, Any]:
        result = row["cutoff_results"][largest]
        return {
            "question": row["question"],
            "gold": row["ground_truth_answer"],
            "response": result["generated_answer"],
            "category": row["category"],
            "label": LABELS.get(result.get("judgment")),
            "judged": "judgment" in result,
        }

    rows_by_conversation: dict[int, list[tuple[int, Mapping[str, Any]]]] = {}
    for position, row in enumerate(rows):
        match = _QUESTION_ID.fullmatch(str(row.get("question_id")))
        if match is None:
            faults.append(
                f"evaluation {position}: the question id {_printable(row.get('question_id'))} is not convN_qM"
            )
        else:
            rows_by_conversation.setdefault(int(match[1]), []).append((int(match[2]), row))
    answers = {
        conversation: list(
            _valid_answers(
                (
                    (f"conv{conversation}_q{number}", row)
                    for number, row in sorted(numbered_rows, key=lambda pair: pair[0])
                ),
                convert,
                faults,
            )
        )
        for conversation, numbered_rows in sorted(rows_by_conversation.items())
    }
    metadata = data["metadata"] if isinstance(data.get("metadata"), dict) else {}
    names = ("project_name", "answerer_model", "judge_model", "timestamp", "with_evidence")
    settings = {
        name: _printable(metadata[name]) for name in names if isinstance(metadata.get(name), str | bool)
    }
    model = settings.get("answerer_model") or "unknown"
    return RecordedAnswers(
        "mem0_2026", "j_2026", name, str(model), digest,
        {"form": "mem0_2026", "cutoff": largest, **settings}, answers, faults,
    )  # fmt: skip


def _valid_answers(
    rows: Iterator[tuple[str, Any]],
    convert: Callable[[Mapping[str, Any]], dict[str, Any]],
    faults: list[str],
) -> Iterator[RecordedAnswer]:
    """Yield the valid answers. Add a message to `faults` per other row."""
    for location, row in rows:
        try:
            yield RecordedAnswer.model_validate(convert(row))
        except ValidationError as error:
            faults.append(f"{location}: {first_error(error)}")
        except KeyError as error:
            faults.append(f"{location}: the field {error} is missing")
        except (TypeError, AttributeError):
            faults.append(f"{location}: the answer is not an object of the expected form")


def _printable(value: Any) -> str:
    return str(value)[:80].encode(errors="backslashreplace").decode()


FORMS = (_read_mem0_2026, _read_zep, _read_mem0_2025)
"""Functions from the content of a file, its name and its content hash to answers, or None for another form."""
