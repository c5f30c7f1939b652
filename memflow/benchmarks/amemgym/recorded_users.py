"""Users that are rebuilt from a recorded run of the published code, if the run's file of users is not published.

Results name the questions, the options that were gold or chosen, the variables and their values; dialogues have the
first message of every session. Two things are unknown: the profile, and which of a period's sessions states which
value. An option that was never gold and never chosen is missing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.recorded_dialogues import PREFIX, RecordedDialogue
from memflow.benchmarks.amemgym.recorded_results import DIAGNOSIS, OVERALL, RESULTS, UserResults
from memflow.benchmarks.raw_records import first_error
from memflow.errors import BadInput
from memflow.records import Record
from memflow.run.recording import HEADER

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
    if invalid := next((file for file in files.values() if file.reason is not None), None):
        file_fault = f"{invalid.source}, {invalid.reason}"
        return replace(record, reason=f"the user cannot be rebuilt: {file_fault}. Fix the files of the run.")
    contents = {name: json.loads(file.content)["periods"] for name, file in files.items()}
    results = UserResults.from_files(contents.get(OVERALL), contents.get(DIAGNOSIS))
    try:
        content = _RebuiltUser(user, results, dialogues).content()
        PublishedUser.model_validate(content)
    except ValidationError as error:
        return replace(record, reason=f"the user cannot be rebuilt: {first_error(error)}. Fix the run.")
    except BadInput as error:
        first_fault = f" ({results.faults[0]})" if results.faults else ""
        reason = f"the user cannot be rebuilt: {error}{first_fault}."
        return replace(record, reason=reason)
    return replace(record, content=json.dumps(content, ensure_ascii=False))


@dataclass(frozen=True)
class _RebuiltUser:
    user: str
    results: UserResults
    dialogues: Mapping[int, RecordedDialogue]

    def content(self) -> dict[str, Any]:
        """Return the user in the published format. Raises BadInput for missing or contradictory results."""
        variables, schema = self._variables_and_schema()
        states = [self._state(period, variables, schema) for period in self._periods()]
        sessions = [self._sessions(period) for period in range(len(states))]
        ends = [period_sessions[-1]["session_time"][:DAY] for period_sessions in sessions]
        previous_states: list[dict[str, str]] = [{}, *states]
        updates = []
        for old, new in zip(previous_states, states, strict=False):
            changed = [name for name in new if old.get(name) != new[name]]
            updates.append({name: {"old": old.get(name), "new": new[name]} for name in changed})
        if not all(updates):
            raise BadInput(
                f"period {updates.index({})} changes no state value, but the format requires a change "
                "in each period; record the whole run again"
            )
        return {
            "id": self.user,
            "start_time": ends[0],
            "user_profile": {"name": self.user, "formatted_str": f"name: {self.user}"},
            "state_schema": schema,
            "periods": [
                {
                    "period_start": ends[period - 1] if period else None,
                    "period_end": ends[period],
                    "period_summary": None,
                    "sessions": sessions[period],
                    "state": state,
                    "updates": updates[period],
                }
                for period, state in enumerate(states)
            ],
            "qas": [self._question(number, names) for number, names in variables.items()],
        }

    def _periods(self) -> range:
        """Return the range of periods. Raises BadInput for a period without dialogues or without results."""
        periods_with_results = {period for period, _ in (*self.results.choices, *self.results.states)}
        if not self.dialogues:
            raise BadInput(
                f"the run has no recorded dialogue of the user {self.user}; add the file of the user's dialogues"
            )
        periods = range(1 + max(periods_with_results | set(self.dialogues)))
        for recorded_periods, content in ((self.dialogues, "dialogue"), (periods_with_results, "result")):
            if missing := [period for period in periods if period not in recorded_periods]:
                raise BadInput(f"the run has no {content} of period {missing[0]}; record the whole run again")
        return periods

    def _variables_and_schema(self) -> tuple[dict[int, list[str]], dict[str, list[str]]]:
        """Return the variables of each question, and the possible values of each variable."""
        variables: dict[int, list[str]] = {}
        schema: dict[str, list[str]] = {}
        for (_, number), result in self.results.states.items():
            variables.setdefault(number, result.variables)
            for name, values in result.schema_of_query().items():
                if schema.setdefault(name, values) != values:
                    raise BadInput(
                        f"two results list different possible values of the variable {name}; use the files of one run"
                    )
        for _, number in self.results.choices:
            if number not in variables:
                raise BadInput(
                    f"no result in {DIAGNOSIS} names the variables of question {number}; add the missing results"
                )
        return dict(sorted(variables.items())), schema

    def _state(
        self, period: int, variables: Mapping[int, Sequence[str]], schema: Mapping[str, Sequence[str]]
    ) -> dict[str, str]:
        """Return the user's true state after `period`, a value for each variable of `schema`.

        `variables` lists the variables of each question by question number. Raises BadInput if results contradict each
        other or lack a value.
        """
        state: dict[str, str] = {}
        for number, names in variables.items():
            state_result = self.results.states.get((period, number))
            choice_result = self.results.choices.get((period, number))
            values = [] if state_result is None else [*state_result.truth.items()]
            if choice_result is not None:
                values += zip(names, choice_result.answer_state, strict=False)
            for name, value in values:
                if state.setdefault(name, value) != value:
                    raise BadInput(
                        f"two results of period {period} contain different true values of the "
                        f"variable {name}; use the files of one run"
                    )
        if missing := [name for name in schema if name not in state]:
            raise BadInput(
                f"no result of period {period} contains the true value of the variable {missing[0]}; "
                "add the missing results"
            )
        return {name: state[name] for name in schema}

    def _sessions(self, period: int) -> list[dict[str, Any]]:
        sessions = []
        for number, messages in enumerate(self.dialogues[period].sessions):
            match = _FIRST.fullmatch(messages[0].content) if messages else None
            if match is None:
                raise BadInput(
                    f"session {number} of period {period} does not begin with [Current Time: ...]; "
                    "record this period again"
                )
            opening = {"query": match["text"], "session_time": match["time"]}
            sessions.append({"event": None, "exposed_states": None, **opening})
        if not sessions:
            raise BadInput(
                f"the recorded dialogue of period {period} has no sessions; record this period again"
            )
        return sessions

    def _question(self, number: int, variables: Sequence[str]) -> dict[str, Any]:
        """Return a question with each option that was gold or chosen in some period, ordered by option number."""
        results = [result for (_, question), result in self.results.choices.items() if question == number]
        options: dict[int, list[Any]] = {}
        for result in results:
            for option_number, *option in result.options():
                if options.setdefault(option_number, option) != option:
                    raise BadInput(
                        f"option {option_number} of question {number} has several texts or states; "
                        "use the files of one run"
                    )
        if len({result.query for result in results}) != 1:
            raise BadInput(
                f"question {number} has no text or several texts in {OVERALL}; use the files of one run"
            )
        return {
            "query": results[0].query,
            "required_info": list(variables),
            "answer_choices": [
                {"state": list(state), "answer": text} for _, (state, text) in sorted(options.items())
            ],
        }
