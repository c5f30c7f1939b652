"""First messages of sessions, in which users state their current state values. These values are gold (`exposes`).

The messages are published, or the simulator writes them (paper, section 3.1): first messages for the initial state,
then one message per life event. The simulator must recover the exposed values from the text. Otherwise the message is
quarantined.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from memflow.benchmarks.amemgym.answers import Group, groups_of, values_of
from memflow.benchmarks.amemgym.config import TEXT_USERS_AT_ONCE, AMemGymConfig, is_generated, parse_config
from memflow.benchmarks.amemgym.off_policy import recorded_turns
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.states import History, histories, selected_users
from memflow.benchmarks.amemgym.wording import json_lines, prompt, with_time
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.concurrency import gather_bounded
from memflow.fingerprint import seeded
from memflow.records import Record, Turn


@dataclass(frozen=True)
class DraftSession:
    """The first message of a session, before its turn has an id."""

    text: str
    exposes: Mapping[str, str] | None
    sent_at: str = ""
    reason: str | None = None


async def make_turns(
    domain: Domain, records: Sequence[Record], states: States, simulator: Chat
) -> list[Turn]:
    """Return the turns of all users in order. Off-policy turns include all messages of the recorded dialogues."""
    config = parse_config(domain)
    openings = await _openings(domain, config, records, states, simulator)
    return openings if config.policy == "on" else recorded_turns(domain, config, openings, records)


async def _openings(
    domain: Domain, config: AMemGymConfig, records: Sequence[Record], states: States, simulator: Chat
) -> list[Turn]:
    """Return the first messages of all sessions, published or written by the simulator, by user and period."""
    if not is_generated(domain):
        published_turns: list[Turn] = []
        for record in selected_users(domain, records):
            user = PublishedUser.model_validate_json(record.content)
            published_turns += _turns(domain, config, user.id, _published_sessions(user))
        return published_turns
    histories_by_user = histories(states)
    sessions_by_user = await gather_bounded(
        lambda history: _SessionWriter(domain, config, history, simulator).sessions(),
        [*histories_by_user.values()],
        TEXT_USERS_AT_ONCE,
    )
    turns: list[Turn] = []
    for user_id, periods in zip(histories_by_user, sessions_by_user, strict=True):
        turns += _quarantine_user(config, _turns(domain, config, user_id, periods))
    return turns


def _quarantine_user(config: AMemGymConfig, turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns of one user; with `quarantine = "user"`, one quarantined turn quarantines all of them."""
    quarantined = next((turn for turn in turns if turn.reason is not None), None)
    if config.quarantine == "item" or quarantined is None:
        return turns
    reason = f"the user is dropped: message {quarantined.message_id}: {quarantined.reason}"
    return [replace(turn, reason=turn.reason or reason) for turn in turns]


def _published_sessions(user: PublishedUser) -> list[list[DraftSession]]:
    """Return the published sessions of each period."""
    return [
        [
            DraftSession(session.query, session.exposed_states, session.session_time)
            for session in period.sessions
        ]
        for period in user.periods
    ]


def _turns(
    domain: Domain, config: AMemGymConfig, user_id: str, periods: Sequence[Sequence[DraftSession]]
) -> list[Turn]:
    """Return the first messages of a user's sessions as turns. Events are numbered from 0 over all periods."""
    numbered_sessions = [(number, session) for number, sessions in enumerate(periods) for session in sessions]
    return [
        Turn(
            domain=domain.name,
            episode_id=user_id,
            checkpoint=period,
            event=event,
            position=0,
            message_id=f"{user_id}/{event}",
            kind="exchange",
            role="user",
            text=with_time(session.sent_at, session.text),
            sent_at=session.sent_at,
            follow_ups=config.rounds(period) - 1,
            exposes=None if session.exposes is None else json_lines(session.exposes),
            reason=session.reason,
        )
        for event, (period, session) in enumerate(numbered_sessions)
    ]


@dataclass
class _SessionWriter:
    domain: Domain
    config: AMemGymConfig
    history: History
    simulator: Chat

    async def sessions(self) -> list[list[DraftSession]]:
        """Return the sessions of each period, with their times."""
        later_sessions = (self._later_sessions(period) for period in range(1, len(self.history.periods)))
        drafts = await asyncio.gather(self._opening(), *later_sessions)
        return [self._assign_dates(period, sessions) for period, sessions in enumerate(drafts)]

    async def _opening(self) -> list[DraftSession]:
        """Return the sessions of period 0, which state the initial state; one with a reason if the request fails."""
        state = self.history.periods[0]
        answer = await ask(
            self.simulator,
            prompt("opening", groups_of(tuple(state)), self.config.language),
            {
                "profile": self.history.profile.profile,
                "date": self.history.profile.start_date,
                "schema": self.history.schema_text,
                "state": json_lines(state),
            },
            check=lambda groups: groups.fault(state),
        )
        if answer.value is None:
            return [DraftSession("", state, reason=answer.reason)]

        async def session(group: Group) -> DraftSession:
            values = {name: state[name] for name in group.variables}
            return await self._refine_until_understood(group.text, values)

        return await asyncio.gather(*map(session, answer.value.groups))

    async def _later_sessions(self, period: int) -> list[DraftSession]:
        """Return one session per life event of a period, which states the changes that the event causes."""
        changes_by_event: dict[str, dict[str, tuple[str | None, str]]] = {}
        for change in self.history.changes[period]:
            changes = changes_by_event.setdefault(change.event or "", {})
            changes[change.variable] = (change.old, change.value)
        return await asyncio.gather(
            *(self._event_session(period, event, changes) for event, changes in changes_by_event.items())
        )

    async def _event_session(
        self, period: int, event: str, changes: Mapping[str, tuple[str | None, str]]
    ) -> DraftSession:
        """Return the session on a life event; `changes` has (old value, new value) by variable."""
        exposes = {name: value for name, (_, value) in changes.items()}
        answer = await ask(
            self.simulator,
            prompt("utterance", language=self.config.language),
            {
                "profile": self.history.profile.profile,
                "schema": self.history.schema_text,
                "date": self.history.end(period),
                "event": event,
                "changes": json_lines(
                    {name: {"from": old, "to": value} for name, (old, value) in changes.items()}
                ),
            },
        )
        if answer.value is None:
            return DraftSession("", exposes, reason=answer.reason)
        return await self._refine_until_understood(answer.value.text, exposes)

    async def _refine_until_understood(self, text: str, exposes: Mapping[str, str]) -> DraftSession:
        """Return a session with `text`, rewritten until the simulator recovers exactly the values in `exposes`.

        If the simulator never recovers these values, the session has a reason.
        """
        schema = {name: self.history.schema[name] for name in exposes}
        reader = prompt("exposure", values_of(schema, optional=True), self.config.language)
        writer = prompt("utterance_again", language=self.config.language)
        for refinement in range(self.config.refinements + 1):
            fields = {"text": text, "schema": json_lines(schema)}
            recovery = await ask(self.simulator, reader, fields)
            if recovery.value is None:
                return DraftSession(text, exposes, reason=recovery.reason)
            recovered_state = recovery.value.chosen()
            if recovered_state == dict(exposes):
                return DraftSession(text, exposes)
            if refinement < self.config.refinements:
                recovered_values = json_lines({name: recovered_state.get(name) for name in exposes})
                fields |= {"meant": json_lines(exposes), "understood": recovered_values}
                rewrite = await ask(self.simulator, writer, fields)
                if rewrite.value is None:
                    return DraftSession(text, exposes, reason=rewrite.reason)
                text = rewrite.value.text
        missing_names = [name for name in exposes if recovered_state.get(name) != exposes[name]]
        reason = f"after {self.config.refinements} refinements the text does not reveal: {', '.join(missing_names)}"
        return DraftSession(text, exposes, reason=reason)

    def _assign_dates(self, period: int, sessions: Sequence[DraftSession]) -> list[DraftSession]:
        """Return each session with a time between 19:00 and 22:00, on consecutive days up to the period's last day."""
        last_day = date.fromisoformat(self.history.end(period))
        sessions_with_dates = []
        for number, session in enumerate(sessions):
            rng = random.Random(seeded(self.domain.seed, self.history.profile.user_id, period, number))
            day = last_day - timedelta(days=len(sessions) - 1 - number)
            moment = datetime.combine(day, time(19)) + timedelta(seconds=rng.randrange(3 * 60 * 60))
            sent_at = moment.isoformat(sep=" ")
            sessions_with_dates.append(DraftSession(session.text, session.exposes, sent_at, session.reason))
        return sessions_with_dates
