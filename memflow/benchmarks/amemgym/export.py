"""Users written in the published format, from the tables: so that others' code can read what was generated here.

Reading it back gives the same rows (records.py, states.py, utterances.py, probes.py), and the published file comes back
byte by byte. One thing only is not in the tables: where two sessions of a period tell the same variable, they hold the
life event of the later one. Two things are as published although we would not have them so: `update_cnts` holds the
changes of the whole run in every period, which tells the future, and `messages` is always empty.

A user or a question that is quarantined has no place in the format. It is left out, by name and with its reason.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.amemgym.states import History, histories
from memflow.benchmarks.amemgym.wording import dated
from memflow.benchmarks.api import States
from memflow.errors import BadInput
from memflow.records import Probe, Turn

TRAITS = (
    "name",
    "age",
    "gender",
    "marital_status",
    "education_level",
    "occupation",
    "hobbies_and_interests",
    "skills_and_expertise",
    "complementary_info",
)
"""The traits of a published profile, in the order of its lines; the last one takes what belongs to no other."""


@dataclass(frozen=True)
class LeftOut:
    """A user, or one question of a user, that cannot be written, and why."""

    user_id: str
    question: str | None
    reason: str


@dataclass(frozen=True)
class Exported:
    """Users in the published format, and what had to be left out."""

    users: list[dict[str, Any]]
    left_out: list[LeftOut]

    @property
    def text(self) -> str:
        """The file, just as the published one is written."""
        return json.dumps(self.users, ensure_ascii=False)


def export_users(states: States, turns: Sequence[Turn], probes: Sequence[Probe]) -> Exported:
    """The users of one domain in the published format, in the order of its profiles.

    Raises BadInput for rows that the format cannot hold though nothing is quarantined in them.
    """
    lives = histories(states)
    users: list[dict[str, Any]] = []
    left_out: list[LeftOut] = []
    for profile in states.profiles:
        user_id = profile.user_id
        said = sorted((turn for turn in turns if turn.episode_id == user_id), key=lambda turn: turn.event)
        asked = [probe for probe in probes if probe.episode_id == user_id and probe.kind == "choice"]
        reason = profile.reason or _unsaid(said)
        if reason is not None:
            left_out.append(LeftOut(user_id, None, reason))
            continue
        questions, without = _questions(asked, len(lives[user_id].periods))
        left_out += without
        if not questions:
            left_out.append(LeftOut(user_id, None, "no question of the user can be asked"))
            continue
        users.append(_user(lives[user_id], said, questions))
    return Exported(users, left_out)


def _unsaid(turns: Sequence[Turn]) -> str | None:
    for turn in turns:
        if turn.reason is not None:
            return f"the message {turn.message_id} is quarantined: {turn.reason}"
    return None


def _user(life: History, turns: Sequence[Turn], questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "id": life.profile.user_id,
        "start_time": life.profile.start_date,
        "user_profile": _profile(life),
        "state_schema": {name: list(choices) for name, choices in life.schema.items()},
        "periods": [
            _period(life, period, [turn for turn in turns if turn.checkpoint == period])
            for period in range(len(life.periods))
        ],
        "qas": list(questions),
    }


def _profile(life: History) -> dict[str, Any]:
    """The profile with its traits read from its lines. A trait that no line names is null."""
    lines: dict[str, str] = {}
    rest = []
    for line in life.profile.profile.split("\n"):
        label, colon, value = line.partition(": ")
        trait = label.strip().lower().replace(" ", "_")
        if colon and trait in TRAITS and trait not in lines:
            lines[trait] = value
        else:
            rest.append(line)
    info = TRAITS[-1]
    more = "\n".join([*([lines[info]] if info in lines else []), *rest])
    traits: dict[str, Any] = {
        **dict.fromkeys(TRAITS),
        **lines,
        info: more or None,
        "name": life.profile.name,
    }
    if traits["age"] is not None and traits["age"].isdecimal():
        traits["age"] = int(traits["age"])
    return {"uuid": life.profile.user_id, **traits, "formatted_str": life.profile.profile}


def _period(life: History, period: int, turns: Sequence[Turn]) -> dict[str, Any]:
    counts = Counter(row.variable for rows in life.changes[1:] for row in rows)
    state = life.periods[period]
    if lost := [name for name in life.schema if name not in state]:
        raise BadInput(
            f"{life.profile.user_id}: {lost[0]} has no value in period {period}; look at the checks of state/changes"
        )
    return {
        "period_start": life.end(period - 1) if period else None,
        "period_end": life.end(period),
        "period_summary": life.changes[period][0].summary,
        "sessions": [_session(life, turn) for turn in turns],
        "state": {name: state[name] for name in life.schema},
        "updates": {row.variable: {"old": row.old, "new": row.value} for row in life.changes[period]},
        "update_cnts": {name: counts[name] for name in life.schema},
    }


def _session(life: History, turn: Turn) -> dict[str, Any]:
    exposes = json.loads(turn.exposes or "{}")
    before = dated(turn.sent_at or "", "")
    if not turn.text.startswith(before):
        raise BadInput(f"the message {turn.message_id} does not begin with its time, {turn.sent_at}")
    events = {row.variable: row.event for row in life.changes[turn.checkpoint]}
    return {
        "event": next((events[name] for name in exposes if events.get(name) is not None), None),
        "exposed_states": exposes,
        "query": turn.text.removeprefix(before),
        "messages": [],
        "session_time": turn.sent_at,
    }


def _questions(asked: Sequence[Probe], periods: int) -> tuple[list[dict[str, Any]], list[LeftOut]]:
    by_question: dict[str, list[Probe]] = {}
    for probe in asked:
        by_question.setdefault(probe.question, []).append(probe)
    made, left_out = [], []
    for question, probes in by_question.items():
        first = probes[0]
        reason = next((probe.reason for probe in probes if probe.reason is not None), None)
        if reason is not None:
            left_out.append(LeftOut(first.episode_id, question, reason))
            continue
        if len(probes) != periods or len(first.variants) != len(first.options):
            raise BadInput(
                f"{first.probe_id}: a question is asked once after each of {periods} periods, and says for which state"
                " each option is; materialize question/probes again"
            )
        lived = {int(probe.gold) for probe in probes}
        choices = [
            {
                "state": json.loads(variant),
                "answer": option,
                "type": "experience" if number in lived else "random",
            }
            for number, (variant, option) in enumerate(zip(first.variants, first.options, strict=True), 1)
        ]
        made.append({"query": question, "required_info": list(first.variables), "answer_choices": choices})
    return made, left_out
