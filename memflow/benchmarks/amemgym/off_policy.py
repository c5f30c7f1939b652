"""Off-policy domains: users whose dialogues come from a recorded run (section 4.2).

A run must contain every session of the domain's users, with the same first message and the configured number of rounds.
recorded_dialogues.py reads the files of a run.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.amemgym.config import AMemGymConfig, is_generated, parse_config
from memflow.benchmarks.amemgym.generation.personas import select_personas
from memflow.benchmarks.amemgym.recorded_dialogues import PREFIX, RecordedDialogue, RecordedMessage
from memflow.benchmarks.amemgym.recorded_results import RESULTS
from memflow.benchmarks.amemgym.recorded_users import recorded_users
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import Record, Turn
from memflow.run.recording import HEADER

SHOWN_CHARACTERS = 60
"""Number of characters of a message that an error quotes."""


def user_records(domain: Domain, records: Sequence[Record]) -> list[Record]:
    """Return the records of the domain's users, without records of recorded runs.

    If the data sets have results of a recorded run but no users, the users are rebuilt. Raises BadInput if
    the domain's policy does not fit its data sets.
    """
    users = [record for record in records if not record.record_id.startswith((PREFIX, RESULTS))]
    runs = dict.fromkeys(record.dataset for record in records if record.record_id.startswith(PREFIX))
    if parse_config(domain).policy == "on":
        if len(users) < len(records):
            run = next(record.dataset for record in records if record not in users)
            raise BadInput(
                f"domain {domain.name} is on-policy, but its data set {run} is a recorded "
                'run. Set the parameter policy to "off", or remove that data set.'
            )
        return users
    dataset_names = ", ".join(domain.datasets)
    if not runs:
        raise BadInput(
            f"domain {domain.name} is off-policy, but none of its data sets ({dataset_names}) is a recorded "
            "run. Record one with `memflow export transcript`; `memflow data` shows the path to save "
            "it at."
        )
    if len(runs) > 1:
        raise BadInput(
            f"off-policy domain {domain.name} has {len(runs)} recorded runs ({', '.join(runs)}), but must have "
            "one. Remove all but one of these data sets from the domain."
        )
    users = users or recorded_users(records)
    if not users:
        raise BadInput(
            f"domain {domain.name} has a recorded run, but none of its data sets ({dataset_names}) contains "
            "users, or results with which to rebuild users. Add the data set of the run's users."
        )
    return users


def recorded_turns(
    domain: Domain, config: AMemGymConfig, openings: Sequence[Turn], records: Sequence[Record]
) -> list[Turn]:
    """Return the turns of all complete sessions: first messages from the users' data, replies from the recorded run.

    A session has only its first message if this message or the recorded dialogue is quarantined. Raises BadInput with
    file, user, period, session and fault if the run does not match the users or the number of rounds.
    """
    run = _RecordedRun(domain, config, records)
    valid_openings: dict[tuple[str, int], list[Turn]] = {}
    for turn in openings:
        if turn.reason is None:
            valid_openings.setdefault((turn.episode_id, turn.checkpoint), []).append(turn)
    run.check_users(valid_openings)
    sessions: dict[str, Sequence[RecordedMessage]] = {}
    reasons: dict[tuple[str, int], str | None] = {}
    for (user, period), turns in valid_openings.items():
        reasons[user, period] = run.reason(user, period)
        if reasons[user, period] is None:
            sessions |= run.sessions(user, period, turns)
    recorded: list[Turn] = []
    for turn in openings:
        opening = replace(turn, reason=turn.reason or reasons.get((turn.episode_id, turn.checkpoint)))
        recorded += _recorded_session_turns(opening, sessions.get(turn.message_id, []))
    return recorded


class _RecordedRun:
    def __init__(self, domain: Domain, config: AMemGymConfig, records: Sequence[Record]) -> None:
        self.config = config
        self.users = _user_ids(domain, user_records(domain, records))
        dialogue_records = [record for record in records if record.record_id.startswith(PREFIX)]
        self.dataset = dialogue_records[0].dataset
        self.dialogues: dict[tuple[str, int], tuple[str, RecordedDialogue]] = {}
        self.quarantined: dict[str, str] = {}
        for record in dialogue_records:
            if record.reason is not None:
                user = record.record_id.removeprefix(PREFIX).partition("/")[0]
                self.quarantined.setdefault(user, f"{record.source}, {record.reason}")
            elif record.record_id != HEADER:
                dialogue = RecordedDialogue.model_validate_json(record.content)
                self.dialogues[dialogue.user, dialogue.period] = record.source, dialogue
        users_with_dialogue = [user for user, _ in self.dialogues]
        self.recorded_users = list(dict.fromkeys([*users_with_dialogue, *self.quarantined]))

    def reason(self, user: str, period: int) -> str | None:
        """Return the reason why the dialogue of a user and period is quarantined, or None."""
        if user not in self.quarantined or (user, period) in self.dialogues:
            return None
        return f"the recorded dialogue is quarantined: {self.quarantined[user]}"

    def check_users(self, domain_periods: Collection[tuple[str, int]]) -> None:
        """Raise BadInput if the run has users or periods that the domain lacks.

        `domain_periods` are the users and periods of the domain within its limit. Other users are not checked.
        """
        unknown_users = dict.fromkeys(user for user, _ in self.dialogues if user not in self.users)
        selected_users = {user for user, _ in domain_periods}
        for (user, period), (source, _) in self.dialogues.items():
            location = f"{self.dataset}: {source}: "
            if user in unknown_users:
                raise BadInput(
                    f"{location}{len(unknown_users)} users of the run are not among the {len(self.users)} users of the "
                    f"domain, for example {user}. Use the data set of users with which the run was recorded."
                )
            if user in selected_users and (user, period) not in domain_periods:
                raise BadInput(
                    f"{location}the run has period {period} of user {user}, but the domain does not. Use the "
                    "data set and parameters with which the run was recorded."
                )

    def sessions(
        self, user: str, period: int, openings: Sequence[Turn]
    ) -> Mapping[str, Sequence[RecordedMessage]]:
        """Return the recorded sessions of a user and period. The key is the id of the session's first message."""
        if user not in self.recorded_users:
            raise BadInput(
                f"{self.dataset}: the run has no dialogue of user {user}; it has {len(self.recorded_users)} "
                f"users. Use --limit {len(self.recorded_users)}, or record more users."
            )
        if (user, period) not in self.dialogues:
            raise BadInput(
                f"{self.dataset}: the run has no dialogue of user {user} in period {period}. Record the "
                "whole run again."
            )
        source, dialogue = self.dialogues[user, period]
        location = f"{self.dataset}: {source}: user {user}, period {period}"
        if len(dialogue.sessions) != len(openings):
            raise BadInput(
                f"{location}: the run has {len(dialogue.sessions)} sessions, but the domain has "
                f"{len(openings)}. Use the parameters with which the run was recorded."
            )
        for number, (opening, session) in enumerate(zip(openings, dialogue.sessions, strict=True)):
            fault = self._session_error(opening, session, number in dialogue.cut)
            if fault:
                raise BadInput(f"{location}, session {number}: {fault}. Record the run again.")
        return {
            opening.message_id: session for opening, session in zip(openings, dialogue.sessions, strict=True)
        }

    def _session_error(self, opening: Turn, session: Sequence[RecordedMessage], cut: bool) -> str | None:
        expected_length = 2 * self.config.rounds(opening.checkpoint)
        first_text = session[0].content if session else ""
        if not session or first_text != opening.text:
            recorded = json.dumps(first_text[:SHOWN_CHARACTERS], ensure_ascii=False)
            expected = json.dumps(opening.text[:SHOWN_CHARACTERS], ensure_ascii=False)
            return (
                f"the recorded session starts with {recorded}, but the user's session starts with {expected}"
            )
        for number, message in enumerate(session):
            role = "assistant" if number % 2 else "user"
            if message.role != role:
                return f"message {number} has the role {message.role} instead of {role}"
        is_shortened = cut and len(session) < expected_length
        if len(session) != expected_length and not is_shortened:
            return f"the recorded session has {len(session)} messages, but the domain's rounds need {expected_length}"
        return None


def _user_ids(domain: Domain, users: Sequence[Record]) -> list[str]:
    """Return the ids of all users in the domain's data sets; the limit is ignored."""
    if is_generated(domain):
        return [persona.persona.id for persona in select_personas(domain.limited(0), users)]
    return [record.record_id for record in users]


def _recorded_session_turns(opening: Turn, session: Sequence[RecordedMessage]) -> Iterator[Turn]:
    """Yield the turns of a recorded session. The message ids equal the ids of an on-policy session."""
    first_turn = replace(opening, kind="given", follow_ups=0)
    yield first_turn
    for position, message in enumerate(session[1:], 1):
        yield replace(
            first_turn,
            position=position,
            message_id=f"{opening.message_id}+{position}",
            role=message.role,
            text=message.content,
            exposes=None,
        )
