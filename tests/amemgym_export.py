"""Users of tables in the published format, to compare what was read with the file.

Importing an export yields the same rows, and a published user is reproduced byte for byte, with the published file's
indentation. There is one difference: if two sessions of a period expose the same variable, only the later life event is
kept. As in the published file, `update_cnts` counts the changes of all periods and `messages` is empty.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.amemgym.states import History, exposed_values, histories
from memflow.benchmarks.amemgym.wording import with_time
from memflow.benchmarks.api import States
from memflow.records import Probe, Turn

PROFILE_TRAITS = (
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
"""The traits of a published profile, in order; the last one takes lines that name no trait."""


def export_users(states: States, turns: Sequence[Turn], probes: Sequence[Probe]) -> list[dict[str, Any]]:
    """Return the users of valid rows of one domain in the published format, in the order of `states.profiles`."""
    users = []
    for history in histories(states).values():
        user_id, periods = history.profile.user_id, len(history.periods)
        openings = sorted((turn for turn in turns if turn.episode_id == user_id), key=lambda turn: turn.event)
        choices = [probe for probe in probes if probe.episode_id == user_id and probe.kind == "choice"]
        users.append(_user_json(history, openings, _questions_json(choices, periods)))
    return users


def _user_json(
    history: History, turns: Sequence[Turn], questions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "id": history.profile.user_id,
        "start_time": history.profile.start_date,
        "user_profile": _profile_json(history),
        "state_schema": {name: list(choices) for name, choices in history.schema.items()},
        "periods": [
            _period_json(history, period, [turn for turn in turns if turn.checkpoint == period])
            for period in range(len(history.periods))
        ],
        "qas": list(questions),
    }


def _profile_json(history: History) -> dict[str, Any]:
    """Return the profile with the traits parsed from its lines. A missing trait is null."""
    lines: dict[str, str] = {}
    other_lines = []
    for line in history.profile.profile.split("\n"):
        label, colon, value = line.partition(": ")
        trait = label.strip().lower().replace(" ", "_")
        if colon and trait in PROFILE_TRAITS and trait not in lines:
            lines[trait] = value
        else:
            other_lines.append(line)
    info = PROFILE_TRAITS[-1]
    if info in lines:
        other_lines.insert(0, lines[info])
    additional_info = "\n".join(other_lines)
    traits: dict[str, Any] = {
        **dict.fromkeys(PROFILE_TRAITS),
        **lines,
        info: additional_info or None,
        "name": history.profile.name,
    }
    if traits["age"] is not None and traits["age"].isdecimal():
        traits["age"] = int(traits["age"])
    return {"uuid": history.profile.user_id, **traits, "formatted_str": history.profile.profile}


def _period_json(history: History, period: int, turns: Sequence[Turn]) -> dict[str, Any]:
    counts = Counter(row.variable for rows in history.changes[1:] for row in rows)
    state = history.periods[period]
    return {
        "period_start": history.end(period - 1) if period else None,
        "period_end": history.end(period),
        "period_summary": history.changes[period][0].summary,
        "sessions": [_session_json(history, turn) for turn in turns],
        "state": {name: state[name] for name in history.schema},
        "updates": {row.variable: {"old": row.old, "new": row.value} for row in history.changes[period]},
        "update_cnts": {name: counts[name] for name in history.schema},
    }


def _session_json(history: History, turn: Turn) -> dict[str, Any]:
    exposes = exposed_values(turn)
    time_line = with_time(turn.sent_at or "", "")
    assert turn.text.startswith(time_line)
    events = {row.variable: row.event for row in history.changes[turn.checkpoint]}
    return {
        "event": next((events[name] for name in exposes if events.get(name) is not None), None),
        "exposed_states": exposes,
        "query": turn.text.removeprefix(time_line),
        "messages": [],
        "session_time": turn.sent_at,
    }


def _questions_json(probes: Sequence[Probe], periods: int) -> list[dict[str, Any]]:
    """Return the questions in the published format."""
    probes_by_question: dict[str, list[Probe]] = {}
    for probe in probes:
        probes_by_question.setdefault(probe.question, []).append(probe)
    questions = []
    for question, question_probes in probes_by_question.items():
        first = question_probes[0]
        assert len(question_probes) == periods
        gold_options = {int(probe.gold) for probe in question_probes}
        choices = [
            {
                "state": json.loads(variant),
                "answer": option,
                "type": "experience" if number in gold_options else "random",
            }
            for number, (variant, option) in enumerate(zip(first.variants, first.options, strict=True), 1)
        ]
        questions.append(
            {"query": question, "required_info": list(first.variables), "answer_choices": choices}
        )
    return questions
