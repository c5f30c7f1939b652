"""Recorded runs: dialogues to be given off-policy, in memflow's own form and in the published code's (section 4.2).

A run is read as a record for each user and period, beside its header where it has one, and is then compared with
the users of the domain: every session of theirs has to be in it, begin as theirs and be as long as the domain says.
How a transcript becomes a file is memflow/run/recording.py; how a dialogue is played, episodes.py.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from memflow.benchmarks.amemgym.config import Sizes, generated, sizes_of
from memflow.benchmarks.amemgym.generation.personas import people
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import Record, Turn
from memflow.run import recording
from memflow.run.recording import HEADER

PREFIX = "run:"
"""Begins the id of every record of a recorded run."""
_PUBLISHED = re.compile(r"(?:^|/)(?P<user>[^/]+)/interactions/period_(?P<period>\d+)\.json")
SHOWN = 60
"""Characters of a message that an error shows."""


class Spoken(BaseModel):
    """A message, by the names that the published code gives to its parts."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: Literal["user", "assistant"]
    content: str = Field(min_length=1, max_length=10_000_000)


class Dialogue(BaseModel):
    """The sessions of one user in one period. `cut` are those, by number, that a lost message cut short."""

    model_config = ConfigDict(frozen=True)

    user: str
    period: int
    sessions: list[list[Spoken]]
    cut: list[int] = []


_SESSIONS = TypeAdapter(list[list[Spoken]])


def may_be_recorded(source: str) -> bool:
    """Whether a file of that name can hold a recorded run, so that it is worth reading as text."""
    return source.endswith((".json", ".jsonl"))


def is_recorded(source: str, text: str) -> bool:
    """Whether a file is a recorded run: by its name where the published code wrote it, else by its first line."""
    published = _PUBLISHED.search(source) is not None
    return published or (source.endswith(".jsonl") and recording.is_recording(text))


def dialogues(source: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a recorded run, each with its id. Raises BadInput saying where it is damaged, and how."""
    published = _PUBLISHED.search(source)
    if published is not None:
        period = int(published["period"])
        found = [Dialogue(user=published["user"], period=period, sessions=_published(text))]
    else:
        header, lines = recording.read(text)
        if header.benchmark != "amemgym":
            raise BadInput(f"it is a run of the benchmark {header.benchmark}, not of amemgym")
        yield HEADER, header.model_dump()
        found = _own(header, lines)
    for dialogue in found:
        yield f"{PREFIX}{dialogue.user}/{dialogue.period}", dialogue.model_dump()


def users_of(domain: Domain, records: Sequence[Record]) -> list[Record]:
    """The records that are users, and no part of a recorded run.

    Raises BadInput where the domain's policy and its data sets are at odds.
    """
    users = [record for record in records if not record.record_id.startswith(PREFIX)]
    runs = dict.fromkeys(record.dataset for record in records if record.record_id.startswith(PREFIX))
    if sizes_of(domain).policy == "on":
        if runs:
            raise BadInput(
                f"domain {domain.name} is played on-policy, but its data set {next(iter(runs))} is a recorded "
                'run: set its parameter policy to "off", or take that data set out'
            )
        return users
    named = ", ".join(domain.datasets)
    if not runs:
        raise BadInput(
            f"domain {domain.name} is played off-policy, but no recorded run was found among its data sets "
            f"({named}): record one with `memflow export transcript`; `memflow data` says where it belongs"
        )
    if len(runs) > 1:
        raise BadInput(f"domain {domain.name} has {len(runs)} recorded runs ({', '.join(runs)}): name one")
    if not users:
        raise BadInput(
            f"domain {domain.name} has a recorded run, but none of its data sets ({named}) has users"
        )
    return users


def replayed(domain: Domain, sizes: Sizes, openings: Sequence[Turn], records: Sequence[Record]) -> list[Turn]:
    """Every session whole: the first message as the users' data have it, then what the recorded run has.

    A first message that is quarantined stays so, alone. Raises BadInput naming file, user, period, session and
    fault where the run is not of these users or not of these rounds.
    """
    run = _Run(domain, sizes, records)
    sound: dict[tuple[str, int], list[Turn]] = {}
    for turn in openings:
        if turn.reason is None:
            sound.setdefault((turn.episode_id, turn.checkpoint), []).append(turn)
    run.of_these_users(sound)
    sessions = {
        message: session
        for (user, period), turns in sound.items()
        for message, session in run.sessions(user, period, turns).items()
    }
    return [
        row
        for turn in openings
        for row in _given(turn, [] if turn.reason is not None else sessions[turn.message_id])
    ]


class _Run:
    """The recorded run among a domain's records."""

    def __init__(self, domain: Domain, sizes: Sizes, records: Sequence[Record]) -> None:
        self.sizes = sizes
        self.users = _known(domain, users_of(domain, records))
        mine = [record for record in records if record.record_id.startswith(PREFIX)]
        self.dataset = mine[0].dataset
        self.held: dict[tuple[str, int], tuple[str, Dialogue]] = {}
        for record in mine:
            if record.record_id != HEADER:
                dialogue = Dialogue.model_validate_json(record.content)
                self.held[dialogue.user, dialogue.period] = record.source, dialogue
        self.recorded = list(dict.fromkeys(user for user, _ in self.held))

    def of_these_users(self, played: Collection[tuple[str, int]]) -> None:
        """Raise BadInput where it has users or periods that the domain does not have. `played` are users and
        periods of what the domain takes; of further users a run may have what it likes."""
        strangers = dict.fromkeys(user for user, _ in self.held if user not in self.users)
        taken = {user for user, _ in played}
        for (user, period), (source, _) in self.held.items():
            place = f"{self.dataset}: {source}: "
            if user in strangers:
                raise BadInput(
                    f"{place}it is a run of other users: {user} is not among the {len(self.users)} of the "
                    f"domain ({len(strangers)} such users in it)"
                )
            if user in taken and (user, period) not in played:
                raise BadInput(f"{place}it has user {user} in period {period}, which this user does not have")

    def sessions(self, user: str, period: int, openings: Sequence[Turn]) -> Mapping[str, Sequence[Spoken]]:
        """The sessions of a period, by their first message's id."""
        if user not in self.recorded:
            raise BadInput(
                f"{self.dataset}: it has nothing of user {user}; it is a run of {len(self.recorded)} users. "
                "Take as many with --limit, or record more"
            )
        if (user, period) not in self.held:
            raise BadInput(f"{self.dataset}: it has nothing of user {user} in period {period}")
        source, dialogue = self.held[user, period]
        place = f"{self.dataset}: {source}: user {user}, period {period}"
        if len(dialogue.sessions) != len(openings):
            raise BadInput(
                f"{place}: it has {len(dialogue.sessions)} sessions, where this user has {len(openings)}"
            )
        for number, (opening, session) in enumerate(zip(openings, dialogue.sessions, strict=True)):
            fault = self._fault(opening, session, number in dialogue.cut)
            if fault:
                raise BadInput(f"{place}, session {number}: {fault}")
        return {
            opening.message_id: session for opening, session in zip(openings, dialogue.sessions, strict=True)
        }

    def _fault(self, opening: Turn, session: Sequence[Spoken], cut: bool) -> str | None:
        wanted = 2 * self.sizes.rounds(opening.checkpoint)
        if not session or session[0].content != opening.text:
            said = json.dumps(session[0].content[:SHOWN] if session else "", ensure_ascii=False)
            begins = json.dumps(opening.text[:SHOWN], ensure_ascii=False)
            return f"it begins with {said}, where this user's begins with {begins}: it is another session"
        for number, message in enumerate(session):
            role = "assistant" if number % 2 else "user"
            if message.role != role:
                return f"message {number} is the {message.role}'s, where it is the {role}'s turn"
        if len(session) != wanted and not (cut and len(session) < wanted):
            return f"it has {len(session)} messages, where the domain's rounds make {wanted}"
        return None


def _known(domain: Domain, users: Sequence[Record]) -> list[str]:
    """The ids of the domain's users, as many as it has without a limit."""
    if generated(domain):
        return [person.persona.id for person in people(domain.limited(0), users)]
    return [record.record_id for record in users]


def _given(opening: Turn, session: Sequence[Spoken]) -> Iterator[Turn]:
    """The rows of a session: the ids are those that playing would have given."""
    first = replace(opening, kind="given", follow_ups=0)
    yield first
    for position, message in enumerate(session[1:], 1):
        yield replace(
            first,
            position=position,
            message_id=f"{opening.message_id}+{position}",
            role=message.role,
            text=message.content,
            exposes=None,
        )


def _published(text: str) -> list[list[Spoken]]:
    try:
        return _SESSIONS.validate_json(text)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        names = ("session ", "message ", "", "")
        place = ", ".join(f"{name}{part}" for name, part in zip(names, first["loc"], strict=False))
        raise BadInput(f"{place or 'the whole'}: {first['msg']}") from wrong


def _own(header: recording.Header, lines: Sequence[recording.Line]) -> list[Dialogue]:
    cut = set(header.cut)
    found: dict[tuple[str, int], dict[int, list[recording.Line]]] = {}
    for line in lines:
        events = found.setdefault((line.episode_id, line.checkpoint), {})
        events.setdefault(line.event, []).append(line)
    return [
        Dialogue(
            user=user,
            period=period,
            sessions=[
                [Spoken(role=line.role, content=line.text) for line in session] for session in events.values()
            ],
            cut=[number for number, session in enumerate(events.values()) if session[0].message_id in cut],
        )
        for (user, period), events in found.items()
    ]
