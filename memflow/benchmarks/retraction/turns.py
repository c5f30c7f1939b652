"""The messages of a plan: what the user tells, corrects and takes back, and what others claim.

Off-policy, each message has a given reply, of which some repeat what was told, as assistants do. On-policy, the
assistant replies itself; only its planned mistakes are given.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.config import RetractionConfig, parse_config
from memflow.benchmarks.retraction.load import Words
from memflow.benchmarks.retraction.plans import (
    CHANGED,
    CLEARED,
    CONTRADICTED,
    LATER,
    NEVER_TOLD,
    RESTATED,
    RESTRICTED,
    TOLD,
    Fact,
    Plan,
    make_plans,
)
from memflow.records import Record, Turn

START = datetime(2026, 1, 5, 9, 0)
DAYS = 60
"""Days before each checkpoint: more than it has sessions."""


@dataclass(frozen=True)
class Session:
    """A message of the user with its reply. `states` has the values that it states, by key of the fact."""

    text: str
    reply: str
    act: str
    facts: tuple[Fact, ...] = ()
    states: dict[str, str] = field(default_factory=dict)
    day: str = ""
    """Sessions with the same non-empty `day` are on one day, on which nothing else is told."""
    fixed_reply: bool = False


def checkpoint_end(checkpoint: int) -> datetime:
    """Return the time at which the probes of a checkpoint are asked."""
    return START + timedelta(days=DAYS * (checkpoint + 1) - 1)


def make_turns(domain: Domain, records: Sequence[Record]) -> list[Turn]:
    """Return the turns of all users in order."""
    config = parse_config(domain)
    return [
        turn
        for plan in make_plans(domain, records)
        for turn in _Conversation(domain.name, config, plan).turns()
    ]


def message_id(plan: Plan, event: int) -> str:
    """Return the id of the user's message of an event; that of its reply ends with `+1`."""
    return f"{plan.user_id}/{event}"


class _Conversation:
    """The sessions of one user, which become turns."""

    def __init__(self, domain: str, config: RetractionConfig, plan: Plan) -> None:
        self.domain, self.config, self.plan = domain, config, plan
        self.words = plan.words
        self.random = plan.random("turns")
        self.told: dict[str, list[int]] = {}
        """The events that state each fact."""
        self.days: dict[str, datetime] = {}

    def turns(self) -> Iterator[Turn]:
        event = 0
        for checkpoint in range(self.plan.checkpoints):
            day = START + timedelta(days=DAYS * checkpoint) - timedelta(days=1)
            last = None
            for session in self._sessions(checkpoint):
                same = bool(session.day) and session.day == last
                day = day + timedelta(hours=2) if same else _next_day(day)
                last = session.day
                self.days.setdefault(session.day, day)
                yield from self._turns_of(session, event, checkpoint, day)
                for key in session.states:
                    self.told.setdefault(key, []).append(event)
                event += 1

    def _turns_of(self, session: Session, event: int, checkpoint: int, sent_at: datetime) -> Iterator[Turn]:
        given = self.config.policy == "off" or session.fixed_reply
        text = session.text.replace("{day}", self._day_words(self.days.get("retract_day")))
        user = Turn(
            domain=self.domain,
            episode_id=self.plan.user_id,
            checkpoint=checkpoint,
            event=event,
            position=0,
            message_id=message_id(self.plan, event),
            kind="given" if given else "exchange",
            role="user",
            text=text,
            sent_at=f"{sent_at:%Y-%m-%d %H:%M}",
            exposes=json.dumps(session.states, ensure_ascii=False) if session.states else None,
            forgets=self._forgets(session),
        )
        yield user
        if given:
            yield Turn(
                domain=self.domain,
                episode_id=self.plan.user_id,
                checkpoint=checkpoint,
                event=event,
                position=1,
                message_id=f"{user.message_id}+1",
                kind="given",
                role="assistant",
                text=session.reply,
                sent_at=user.sent_at,
            )

    def _sessions(self, checkpoint: int) -> list[Session]:
        sessions = list(_BY_CHECKPOINT[checkpoint](self))
        if checkpoint != TOLD:
            chosen = self.random.sample(self.words.fillers, self.config.fillers)
            sessions += [Session(text, reply, "filler") for text, reply in chosen]
            if checkpoint != LATER:
                self.random.shuffle(sessions)
        return sessions

    def _tell(self) -> Iterator[Session]:
        told = [fact for fact in self.plan.facts if fact.fate not in NEVER_TOLD]
        day = [fact for fact in told if fact.fate == "retract_day"]
        others = [fact for fact in told if fact.fate != "retract_day"]
        at = self.random.randrange(len(others))
        for fact in (*others[:at], *day, *others[at:]):
            opening = self.random.choice(self.words.openings)
            yield self._stating(fact, fact.value, "tell", opening, day=fact.fate if fact in day else "")

    def _stating(self, fact: Fact, value: str, act: str, template: str, day: str = "") -> Session:
        variant = self.random.randrange(2)
        statement = self.words.statement(fact.name, value, fact.owner, variant=variant)
        echo = self.words.statement(fact.name, value, fact.owner, variant=variant, second_person=True)
        reply = self.random.choice(
            [
                *self.words.acknowledgements,
                *(_with_statement(reply, echo) for reply in self.words.echoes),
            ]
        )
        text = _with_statement(template, statement)
        return Session(text, reply, act, (fact,), {fact.key: value}, day)

    def _change(self) -> Iterator[Session]:
        done = {"retract_topic": False, "retract_day": False}
        for fact in self.plan.facts:
            fate = fact.fate
            if fate in ("correct", "update"):
                yield self._stating(fact, fact.second or "", fate, self.words.requests[fate])
            elif fate in CONTRADICTED:
                yield self._contradiction(fact)
            elif fate in RESTRICTED:
                yield self._request(fate, (fact,))
            elif fate in done:
                if not done[fate]:
                    done[fate] = True
                    yield self._request(fate, self._together(fate))
            elif fate in ("retract", "retract_twice", "retract_foreign", "retract_never") or fate in RESTATED:
                yield self._request(
                    "retract", (fact,), self.plan.foreign if fate == "retract_foreign" else None
                )

    def _together(self, fate: str) -> tuple[Fact, ...]:
        fates = {fate, "cascade"} if fate == "retract_topic" else {fate}
        return tuple(fact for fact in self.plan.facts if fact.fate in fates)

    def _request(self, act: str, facts: tuple[Fact, ...], words: Words | None = None) -> Session:
        words = words or self.words
        topic = self.words.facts[facts[0].name].topic if facts else None
        text = words.filled(
            words.requests[act],
            noun=words.noun(facts[0].name) if facts else "",
            topic=words.topics.get(topic or "", ""),
            day="{day}",
        )
        return Session(text, self.random.choice(self.words.done), act, facts)

    def _contradiction(self, fact: Fact) -> Session:
        assert fact.poison is not None
        variant = self.random.randrange(2)
        claim = self.words.statement(fact.name, fact.poison, variant=variant)
        text = _with_statement(self.words.requests[fact.fate], claim)
        mistake = self.words.mistakes.get(fact.fate)
        reply = self.random.choice(self.words.claim_replies)
        if mistake:
            echo = self.words.statement(fact.name, fact.poison, variant=variant, second_person=True)
            reply = _with_statement(mistake, echo)
        return Session(text, reply, fact.fate, (fact,), fixed_reply=bool(mistake))

    def _tell_again(self) -> Iterator[Session]:
        for fact in self.plan.facts:
            if fact.fate in RESTATED:
                value = fact.second or fact.value
                yield self._stating(fact, value, "restate", self.words.requests["restate"])
            elif fact.fate == "retract_twice":
                yield self._request("retract_again", (fact,))

    def _clear(self) -> Iterator[Session]:
        yield self._request("retract_all", ())

    def _day_words(self, day: datetime | None) -> str:
        if day is None:
            return ""
        if self.words.language == "zh":
            return f"{day.year}年{day.month}月{day.day}日"
        return f"{day.day} {day:%B %Y}"

    def _forgets(self, session: Session) -> str | None:
        request = self._request_row(session)
        return None if request is None else json.dumps(request, ensure_ascii=False)

    def _request_row(self, session: Session) -> dict[str, object] | None:
        """Return the request to forget that a message is, in the form of `ForgetRequest`; None for no request."""
        match session.act:
            case "retract" | "retract_again":
                events = [event for fact in session.facts for event in self.told.get(fact.key, [])]
                ids = [message_id(self.plan, event) + suffix for event in events for suffix in ("", "+1")]
                return {"by": "message", "message_ids": ids} if ids else self._by_text(session)
            case "retract_topic":
                return self._by_text(session)
            case "retract_day":
                day = self.days["retract_day"].date()
                return {"by": "time", "since": str(day), "until": str(day)}
            case "retract_all":
                return {"by": "time"}
        return None

    def _by_text(self, session: Session) -> dict[str, object]:
        topic = self.words.facts[session.facts[0].name].topic
        noun = self.words.topics[topic] if topic else self.words.noun(session.facts[0].name)
        return {"by": "text", "text": noun}


def _with_statement(template: str, statement: str) -> str:
    """Return a template with a statement, which begins with a small letter unless the template asks for a capital."""
    small = statement if statement.startswith(("I ", "I'")) else statement[:1].lower() + statement[1:]
    return template.replace("{Statement}", statement).replace("{statement}", small)


def _next_day(day: datetime) -> datetime:
    return datetime.combine(day.date() + timedelta(days=1), time(9, 0))


_BY_CHECKPOINT = {
    TOLD: _Conversation._tell,
    CHANGED: _Conversation._change,
    LATER: _Conversation._tell_again,
    CLEARED: _Conversation._clear,
}
