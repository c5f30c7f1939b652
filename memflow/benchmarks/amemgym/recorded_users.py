"""Users that are rebuilt from a recorded run of the published code, if the run's file of users is not published.

Results name the questions, the options that were gold or chosen, the variables and their values; dialogues have the
first message of every session. Two things are unknown: the profile, and which of a period's sessions states which
value. An option that was never gold and never chosen is missing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.recorded_dialogues import PREFIX, RecordedDialogue
from memflow.benchmarks.amemgym.recorded_results import DIAGNOSIS, OVERALL, RESULTS, UserResults
from memflow.benchmarks.raw_records import first_error
from memflow.errors import BadInput
from memflow.records import Record
from memflow.run.recording import HEADER

K = TypeVar("K")
V = TypeVar("V")
_FIRST = re.compile(r"\[Current Time: (?P<time>\d{4}-\d\d-\d\d [^\]\n]*)\]\n(?P<text>.+)", re.DOTALL)
DAY = len("2020-10-01")


def recorded_users(records: Sequence[Record]) -> list[Record]:
    """Return a record in the published format for each user with results, in order of the results.

    The record of a user that cannot be rebuilt has a reason.
    """
    files: dict[str, dict[str, Record]] = {}
    dialogues: dict[str, dict[int, RecordedDialogue]] = {}
    for record in records:
        if record.record_id.startswith(RESULTS):
            user, _, name = record.record_id.removeprefix(RESULTS).rpartition("/")
            files.setdefault(user, {})[name] = record
        elif record.record_id.startswith(PREFIX) and record.record_id != HEADER and record.reason is None:
            dialogue = RecordedDialogue.model_validate_json(record.content)
            dialogues.setdefault(dialogue.user, {})[dialogue.period] = dialogue
    return [_rebuild(user, user_files, dialogues.get(user, {})) for user, user_files in files.items()]


def _rebuild(user: str, files: Mapping[str, Record], dialogues: Mapping[int, RecordedDialogue]) -> Record:
    """Return the record of a user, with a reason if the user cannot be rebuilt."""
    record = replace(next(iter(files.values())), record_id=user, content="null", reason=None)
    if invalid_file := next((file for file in files.values() if file.reason is not None), None):
        fault = f"{invalid_file.source}, {invalid_file.reason}. Fix the files of the run."
        return replace(record, reason=f"the user cannot be rebuilt: {fault}")
    contents = {name: json.loads(file.content)["periods"] for name, file in files.items()}
    results = UserResults.from_files(contents.get(OVERALL), contents.get(DIAGNOSIS))
    try:
        content = _rebuilt_content(user, results, dialogues)
        PublishedUser.model_validate(content)
    except ValidationError as error:
        return replace(record, reason=f"the user cannot be rebuilt: {first_error(error)}. Fix the run.")
    except BadInput as error:
        first_fault = f" ({results.faults[0]})" if results.faults else ""
        return replace(record, reason=f"the user cannot be rebuilt: {error}{first_fault}.")
    return replace(record, content=json.dumps(content, ensure_ascii=False))


def _rebuilt_content(
    user: str, results: UserResults, dialogues: Mapping[int, RecordedDialogue]
) -> dict[str, Any]:
    """Return the user in the published format. Raises BadInput for missing or contradictory results."""
    variables, schema = _variables_and_schema(results)
    periods = []
    previous_state: dict[str, str] = {}
    recorded_periods = {*dialogues, *(period for period, _ in (*results.states, *results.choices))}
    for period in range(1 + max(recorded_periods, default=0)):
        state = _state(results, period, variables, schema)
        sessions = _sessions(dialogues, period)
        changed_names = [name for name in state if previous_state.get(name) != state[name]]
        updates = {name: {"old": previous_state.get(name), "new": state[name]} for name in changed_names}
        end = sessions[-1]["session_time"][:DAY]
        periods.append({"period_end": end, "sessions": sessions, "state": state, "updates": updates})
        previous_state = state
    return {
        "id": user,
        "start_time": periods[0]["period_end"],
        "user_profile": {"name": user, "formatted_str": f"name: {user}"},
        "state_schema": schema,
        "periods": periods,
        "qas": [_question(results, number, names) for number, names in variables.items()],
    }


def _add(values: dict[K, V], key: K, value: V, conflict: str) -> None:
    """Add a value that several results give. Raises BadInput if they differ."""
    if values.setdefault(key, value) != value:
        raise BadInput(f"two results {conflict}; use the files of one run")


def _variables_and_schema(results: UserResults) -> tuple[dict[int, list[str]], dict[str, list[str]]]:
    """Return the variables of each question, and the possible values of each variable."""
    variables: dict[int, list[str]] = {}
    schema: dict[str, list[str]] = {}
    for (_, number), result in results.states.items():
        variables.setdefault(number, result.variables)
        for name, values in result.schema_of_query().items():
            _add(schema, name, values, f"list different possible values of the variable {name}")
    if missing_questions := [number for _, number in results.choices if number not in variables]:
        raise BadInput(
            f"no result in {DIAGNOSIS} names the variables of question {missing_questions[0]}; add the missing results"
        )
    return dict(sorted(variables.items())), schema


def _state(
    results: UserResults, period: int, variables: Mapping[int, Sequence[str]], schema: Mapping[str, Any]
) -> dict[str, str]:
    """Return the user's true state after a period, in the order of `schema`, from the results of all questions."""
    state: dict[str, str] = {}
    for number, names in variables.items():
        values: list[tuple[str, str]] = []
        if (state_result := results.states.get((period, number))) is not None:
            values += state_result.truth.items()
        if (choice_result := results.choices.get((period, number))) is not None:
            values += zip(names, choice_result.answer_state, strict=False)
        for name, value in values:
            _add(
                state, name, value, f"of period {period} contain different true values of the variable {name}"
            )
    if missing_names := [name for name in schema if name not in state]:
        raise BadInput(
            f"no result of period {period} contains the true value of the variable {missing_names[0]}; "
            "add the missing results"
        )
    return {name: state[name] for name in schema}


def _sessions(dialogues: Mapping[int, RecordedDialogue], period: int) -> list[dict[str, Any]]:
    """Return the first messages of the sessions of a period, with their times."""
    if period not in dialogues or not dialogues[period].sessions:
        raise BadInput(f"the recorded dialogue of period {period} has no sessions; record this period again")
    sessions = []
    for number, messages in enumerate(dialogues[period].sessions):
        match = _FIRST.fullmatch(messages[0].content) if messages else None
        if match is None:
            raise BadInput(
                f"session {number} of period {period} does not begin with [Current Time: ...]; "
                "record this period again"
            )
        opening = {"query": match["text"], "session_time": match["time"]}
        sessions.append({"event": None, "exposed_states": None, **opening})
    return sessions


def _question(results: UserResults, number: int, variables: Sequence[str]) -> dict[str, Any]:
    """Return a question with each option that was gold or chosen in some period, ordered by option number."""
    answers = [result for (_, question), result in results.choices.items() if question == number]
    queries = list({result.query for result in answers})
    if len(queries) != 1:
        raise BadInput(
            f"question {number} has no text or several texts in {OVERALL}; use the files of one run"
        )
    options: dict[int, tuple[Any, ...]] = {}
    for result in answers:
        for option_number, *option in result.options():
            conflict = f"give option {option_number} of question {number} different texts or states"
            _add(options, option_number, tuple(option), conflict)
    return {
        "query": queries[0],
        "required_info": list(variables),
        "answer_choices": [
            {"state": list(state), "answer": text} for _, (state, text) in sorted(options.items())
        ],
    }
