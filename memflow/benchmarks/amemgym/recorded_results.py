"""The results of the published code: the answers of one user to all questions, and to the state probes, by period.

`overall_results.json` has the answers to questions, `diagnosis_results.json` to state probes: each a list of
periods, which are lists of questions. The published code saves after each answer, so an interrupted run has nulls.
An invalid answer is skipped and reported; recorded_users.py and results_import.py use the valid answers.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from memflow.benchmarks.models import PublishedModel
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, first_error, parse_records

RESULTS = "results:"
"""Prefix of the record ids of results."""
OVERALL, DIAGNOSIS = "overall_results.json", "diagnosis_results.json"
_PERIODS = TypeAdapter(Annotated[list[list[Any]], Field(min_length=1)])
_FILE = re.compile(rf"(?:^|/)(?P<user>[^/]+)/(?P<name>{re.escape(OVERALL)}|{re.escape(DIAGNOSIS)})")


class ScoreOfChoice(PublishedModel):
    """The scores of an answer to a question."""

    accuracy: float = Field(ge=0, le=1)


class Usage(PublishedModel):
    """The usage of a request. In the published code, `output_tokens` counts prompt and answer together."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    time_elapsed: float | None = None

    @property
    def answer_tokens(self) -> int | None:
        """The number of tokens of the answer, without the prompt; None if a count is not recorded."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return max(0, self.output_tokens - self.input_tokens)


class ChoiceResult(PublishedModel):
    """An answer to a question: the gold option (`answer`, from 0) and the chosen option (`response`, from 1).

    If the model's answer names no option (`json_error`), the published code chooses an option at random.
    """

    query: str = Field(min_length=1)
    answer: int = Field(ge=0)
    answer_state: list[str] = Field(min_length=1)
    answer_choice: str = Field(min_length=1)
    raw_response: str | None
    response: int
    response_state: list[str] = Field(min_length=1)
    response_choice: str = Field(min_length=1)
    json_error: bool
    scores: ScoreOfChoice
    llm_usage_statistics: Usage = Usage()

    def options(self) -> Iterator[tuple[int, tuple[str, ...], str]]:
        """Yield the gold option and the chosen option, each as its number (from 1), state values and text.

        A `response` below 1 is skipped: the published code counts it from the last option.
        """
        yield self.answer + 1, tuple(self.answer_state), self.answer_choice
        if self.response >= 1:
            yield self.response, tuple(self.response_state), self.response_choice


class StateValue(PublishedModel):
    """The value of one variable that the model answered (`response_state`; null if missing), and the true value."""

    info_type: str = Field(min_length=1)
    json_error: bool
    answer_state: str
    response_state: Any
    score: float = Field(ge=0, le=1)


class StateResult(PublishedModel):
    """An answer to the state probe of a question. The query begins with the possible values of the variables.

    If the question requires a variable twice, `results` has two equal items.
    """

    query: str = Field(min_length=1)
    raw_response: str | None
    results: list[StateValue] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_a_schema(self) -> "StateResult":
        """Raise ValueError unless the query lists the possible values of each answered variable."""
        names = [value.info_type for value in self.results if value.info_type not in self.schema_of_query()]
        if names:
            raise ValueError(
                f"the recorded query does not list the possible values of the variable {names[0]}; record it again"
            )
        return self

    def schema_of_query(self) -> Mapping[str, list[str]]:
        """Return the possible values by variable, with which the query begins; empty without such a beginning."""
        try:
            schema, _ = json.JSONDecoder().raw_decode(self.query)
        except (ValueError, RecursionError):
            return {}
        return schema if isinstance(schema, dict) else {}

    @property
    def variables(self) -> list[str]:
        """The variables that the question requires, in order; a variable may occur twice."""
        return [value.info_type for value in self.results]

    @property
    def truth(self) -> dict[str, str]:
        """The true value of each variable."""
        return {value.info_type: value.answer_state for value in self.results}

    @property
    def answers(self) -> dict[str, Any]:
        """The value of each variable that the model answered."""
        return {value.info_type: value.response_state for value in self.results}


R = TypeVar("R", ChoiceResult, StateResult)
Answers = Mapping[tuple[int, int], R]
"""Results by period and number of the question."""


@dataclass(frozen=True)
class UserResults:
    """The valid results of one user. `faults` has a message for each missing or invalid result."""

    choices: Answers[ChoiceResult]
    states: Answers[StateResult]
    faults: list[str] = field(default_factory=list)

    @classmethod
    def from_files(cls, overall: Any, diagnosis: Any) -> "UserResults":
        """Return the valid results in the contents of both files. Pass None for a missing file."""
        faults: list[str] = []
        choices = dict(_valid(ChoiceResult, OVERALL, overall, faults))
        return cls(choices, dict(_valid(StateResult, DIAGNOSIS, diagnosis, faults)), faults)


def results_file(source: str) -> tuple[str, str] | None:
    """Return the user and the file name in the path of a results file; None for other files."""
    match = _FILE.search(source)
    return None if match is None else (match["user"], match["name"])


def read_results(file: File) -> Iterator[RawRecord]:
    """Yield the record of a results file. It is invalid if the content is not a list of periods."""
    user_and_name = results_file(file.source)
    assert user_and_name is not None
    user, name = user_and_name

    def parse(content: Any) -> tuple[str, Any]:
        _PERIODS.validate_python(content)
        return "", {"user": user, "name": name, "periods": content}

    return parse_records([file.whole(f"{RESULTS}{user}/{name}")], parse)


def _valid(model: type[R], name: str, content: Any, faults: list[str]) -> Iterator[tuple[tuple[int, int], R]]:
    """Yield ((period, question), result) per valid result of a file. Add a message to `faults` per other result."""
    try:
        periods = _PERIODS.validate_python(content)
    except ValidationError:
        faults.append(f"{name} is missing, or no list of periods with lists of results")
        return
    for period, results in enumerate(periods):
        for number, result in enumerate(results):
            try:
                json.dumps(result, ensure_ascii=False).encode()  # raises UnicodeEncodeError
                if result is not None:
                    yield (period, number), model.model_validate(result)
                    continue
                fault = "the run was interrupted before this answer"
            except UnicodeEncodeError:
                fault = "a text has half of a surrogate pair, so it is not Unicode"
            except ValidationError as error:
                fault = first_error(error)
            faults.append(f"{name}: period {period}, question {number}: {fault}")
