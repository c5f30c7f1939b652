"""What users say: the first message of every session, and (gold) the state values that it lets be known.

Read from the published file, or written by the simulator from the states (paper, section 3.1): opening
messages that together tell the initial state, and later one message for each life event. Each message is
read back by the simulator, who has to name the values from the text alone; one that cannot be mended is a
turn with its reason, and is not played. Off-policy the rest of each session comes from a recorded run
(recorded.py); on-policy, what the user says after the first message is user.py.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from memflow.benchmarks.amemgym.answers import groups_of, values_of
from memflow.benchmarks.amemgym.config import Sizes, generated, sizes_of
from memflow.benchmarks.amemgym.off_policy import replayed
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.states import History, histories, taken
from memflow.benchmarks.amemgym.wording import dated, prompt, written
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.fingerprint import seeded
from memflow.records import Record, Turn


@dataclass(frozen=True)
class Session:
    """The first message of a session, before it has its place in the episode."""

    text: str
    exposes: Mapping[str, str]
    sent_at: str = ""
    reason: str | None = None


async def make_turns(
    domain: Domain, records: Sequence[Record], states: States, simulator: Chat
) -> list[Turn]:
    """The turns of the domain's users, user by user and in order; off-policy, with all of each dialogue."""
    sizes = sizes_of(domain)
    openings = await _openings(domain, sizes, records, states, simulator)
    return openings if sizes.policy == "on" else replayed(domain, sizes, openings, records)


async def _openings(
    domain: Domain, sizes: Sizes, records: Sequence[Record], states: States, simulator: Chat
) -> list[Turn]:
    """The first message of every session."""
    if not generated(domain):
        users = [PublishedUser.model_validate_json(record.content) for record in taken(domain, records)]
        return [turn for user in users for turn in _turns(domain, sizes, user.id, _published(user))]
    lives = histories(states)
    made = await asyncio.gather(
        *(_Speaker(domain, sizes, life, simulator).sessions() for life in lives.values())
    )
    return [
        turn
        for user_id, periods in zip(lives, made, strict=True)
        for turn in _turns(domain, sizes, user_id, periods)
    ]


def _published(user: PublishedUser) -> list[list[Session]]:
    return [
        [Session(session.query, session.exposed_states, session.session_time) for session in period.sessions]
        for period in user.periods
    ]


def _turns(domain: Domain, sizes: Sizes, user_id: str, periods: Sequence[Sequence[Session]]) -> list[Turn]:
    placed = [(number, session) for number, sessions in enumerate(periods) for session in sessions]
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
            text=dated(session.sent_at, session.text),
            sent_at=session.sent_at,
            follow_ups=sizes.rounds(period) - 1,
            exposes=written(session.exposes),
            reason=session.reason,
        )
        for event, (period, session) in enumerate(placed)
    ]


@dataclass
class _Speaker:
    """Writes one generated user's sessions."""

    domain: Domain
    sizes: Sizes
    life: History
    simulator: Chat

    async def sessions(self) -> list[list[Session]]:
        """The sessions of each period, dated."""
        later = (self._later(period) for period in range(1, len(self.life.periods)))
        drafted = await asyncio.gather(self._opening(), *later)
        return [self._dated(period, sessions) for period, sessions in enumerate(drafted)]

    async def _opening(self) -> list[Session]:
        state = self.life.periods[0]
        answer = await ask(
            self.simulator,
            prompt("opening", groups_of(tuple(state)), self.sizes.language),
            {
                "profile": self.life.profile.profile,
                "date": self.life.profile.start_date,
                "schema": written(self.life.schema),
                "state": written(state),
            },
            check=lambda groups: groups.fault(state),
        )
        if answer.value is None:
            return [Session("", state, reason=answer.reason)]
        groups = answer.value.groups
        return list(
            await asyncio.gather(
                *(
                    self._understood(group.text, {name: state[name] for name in group.variables})
                    for group in groups
                )
            )
        )

    async def _later(self, period: int) -> list[Session]:
        events: dict[str, dict[str, tuple[str | None, str]]] = {}
        for change in self.life.changes[period]:
            events.setdefault(change.event or "", {})[change.variable] = (change.old, change.value)
        return list(
            await asyncio.gather(*(self._after(period, event, moves) for event, moves in events.items()))
        )

    async def _after(self, period: int, event: str, moves: Mapping[str, tuple[str | None, str]]) -> Session:
        exposes = {name: value for name, (_, value) in moves.items()}
        answer = await ask(
            self.simulator,
            prompt("utterance", language=self.sizes.language),
            {
                "profile": self.life.profile.profile,
                "schema": written(self.life.schema),
                "date": self.life.end(period),
                "event": event,
                "changes": written(
                    {name: {"from": old, "to": value} for name, (old, value) in moves.items()}
                ),
            },
        )
        if answer.value is None:
            return Session("", exposes, reason=answer.reason)
        return await self._understood(answer.value.text, exposes)

    async def _understood(self, text: str, exposes: Mapping[str, str]) -> Session:
        """`text`, written again until a reader names just the values in `exposes`; with a reason where none
        does."""
        schema = {name: self.life.schema[name] for name in exposes}
        reader = prompt("exposure", values_of(schema, optional=True), self.sizes.language)
        writer = prompt("utterance_again", language=self.sizes.language)
        for refinement in range(self.sizes.refinements + 1):
            read = await ask(self.simulator, reader, {"text": text, "schema": written(schema)})
            if read.value is None:
                return Session(text, exposes, reason=read.reason)
            understood = read.value.chosen()
            if understood == dict(exposes):
                return Session(text, exposes)
            if refinement < self.sizes.refinements:
                fields = {
                    "text": text,
                    "schema": written(schema),
                    "meant": written(exposes),
                    "understood": written({name: understood.get(name) for name in exposes}),
                }
                again = await ask(self.simulator, writer, fields)
                if again.value is None:
                    return Session(text, exposes, reason=again.reason)
                text = again.value.text
        lost = [name for name in exposes if understood.get(name) != exposes[name]]
        reason = (
            f"after {self.sizes.refinements} refinements the text does not let be known: {', '.join(lost)}"
        )
        return Session(text, exposes, reason=reason)

    def _dated(self, period: int, sessions: Sequence[Session]) -> list[Session]:
        """One session a day up to the period's last day, between 19:00 and 22:00, as published."""
        last = date.fromisoformat(self.life.end(period))
        dated = []
        for number, session in enumerate(sessions):
            clock = random.Random(seeded(self.domain.seed, self.life.profile.user_id, period, number))
            day = last - timedelta(days=len(sessions) - 1 - number)
            moment = datetime.combine(day, time(19)) + timedelta(seconds=clock.randrange(3 * 60 * 60))
            sent_at = moment.isoformat(sep=" ")
            dated.append(Session(session.text, session.exposes, sent_at, session.reason))
        return dated
