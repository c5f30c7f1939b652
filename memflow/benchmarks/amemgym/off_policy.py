"""Off-policy domains: users whose dialogues come from a recorded run (section 4.2).

A run must contain every session of the domain's users, with the same first message and the configured number of rounds.
recorded_dialogues.py reads the files of a run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.amemgym.config import AMemGymConfig, parse_config
from memflow.benchmarks.amemgym.recorded_dialogues import PREFIX, RecordedDialogue, RecordedMessage
from memflow.benchmarks.amemgym.recorded_results import RESULTS
from memflow.benchmarks.amemgym.recorded_users import recorded_users
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import Record, Turn
from memflow.run.recording import HEADER

UserPeriod = tuple[str, int]
"""A user and a period."""
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
    user_records(domain, records)  # raises BadInput unless there is one recorded run
    run = _RecordedRun(config, records)
    openings_by_period: dict[UserPeriod, list[Turn]] = {}
    for turn in openings:
        if turn.reason is None:
            openings_by_period.setdefault((turn.episode_id, turn.checkpoint), []).append(turn)
    reasons = {user_period: run.reason(*user_period) for user_period in openings_by_period}
    sessions: dict[str, Sequence[RecordedMessage]] = {}
    for user_period, turns in openings_by_period.items():
        if reasons[user_period] is None:
            sessions |= run.sessions(*user_period, turns)
    turns_of_run: list[Turn] = []
    for turn in openings:
        opening = replace(turn, reason=turn.reason or reasons.get((turn.episode_id, turn.checkpoint)))
        turns_of_run += _recorded_session_turns(opening, sessions.get(turn.message_id, []))
    return turns_of_run


class _RecordedRun:
    """The dialogues of the only recorded run among `records`, by user and period."""

    def __init__(self, config: AMemGymConfig, records: Sequence[Record]) -> None:
        self.config = config
        dialogue_records = [record for record in records if record.record_id.startswith(PREFIX)]
        self.dataset = dialogue_records[0].dataset
        self.dialogues: dict[UserPeriod, tuple[str, RecordedDialogue]] = {}
        self.quarantined: dict[str, str] = {}
        for record in dialogue_records:
            if record.reason is not None:
                user = record.record_id.removeprefix(PREFIX).partition("/")[0]
                self.quarantined.setdefault(user, f"{record.source}, {record.reason}")
            elif record.record_id != HEADER:
                dialogue = RecordedDialogue.model_validate_json(record.content)
                self.dialogues[dialogue.user, dialogue.period] = record.source, dialogue

    def reason(self, user: str, period: int) -> str | None:
        """Return the reason why the dialogue of a user and period is quarantined, or None."""
        if user not in self.quarantined or (user, period) in self.dialogues:
            return None
        return f"the recorded dialogue is quarantined: {self.quarantined[user]}"

    def sessions(
        self, user: str, period: int, openings: Sequence[Turn]
    ) -> Mapping[str, Sequence[RecordedMessage]]:
        """Return the recorded sessions of a user and period. The key is the id of the session's first message."""
        if (user, period) not in self.dialogues:
            users = len({recorded_user for recorded_user, _ in self.dialogues})
            raise BadInput(
                f"{self.dataset}: the run of {users} users has no dialogue of user {user} in period {period}. Use the "
                "users and the --limit with which the run was recorded, or record it again."
            )
        source, dialogue = self.dialogues[user, period]
        location = f"{self.dataset}: {source}: user {user}, period {period}"
        if len(dialogue.sessions) != len(openings):
            raise BadInput(
                f"{location}: the run has {len(dialogue.sessions)} sessions, but the domain has "
                f"{len(openings)}. Use the parameters with which the run was recorded."
            )
        sessions = {}
        for number, (opening, session) in enumerate(zip(openings, dialogue.sessions, strict=True)):
            fault = self._session_error(opening, session, number in dialogue.cut)
            if fault:
                raise BadInput(f"{location}, session {number}: {fault}. Record the run again.")
            sessions[opening.message_id] = session
        return sessions

    def _session_error(self, opening: Turn, session: Sequence[RecordedMessage], is_cut: bool) -> str | None:
        """Return why a recorded session is not the user's session, or None. One that `is_cut` may be shorter."""
        expected_length = 2 * self.config.rounds(opening.checkpoint)
        first_text = session[0].content if session else ""
        if first_text != opening.text:
            recorded_text, expected_text = (
                json.dumps(text[:SHOWN_CHARACTERS], ensure_ascii=False) for text in (first_text, opening.text)
            )
            return (
                f"the recorded session starts with {recorded_text}, but the user's session starts with "
                f"{expected_text}"
            )
        for number, message in enumerate(session):
            role = "assistant" if number % 2 else "user"
            if message.role != role:
                return f"message {number} has the role {message.role} instead of {role}"
        if len(session) > expected_length or (len(session) < expected_length and not is_cut):
            return f"the recorded session has {len(session)} messages, but the domain's rounds need {expected_length}"
        return None


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
