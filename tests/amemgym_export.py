"""Users of tables in the published format, to compare what was read with the file.

Importing an export yields the same rows, and a published user is reproduced byte for byte, with the published file's
indentation. There is one difference: if two sessions of a period expose the same variable, only the later life event is
kept. As in the published file, `update_cnts` counts the changes of all periods and `messages` is empty. Quarantined
users and questions are omitted and listed with a reason.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.amemgym.states import History, exposed_values, histories
from memflow.benchmarks.amemgym.wording import with_time
from memflow.benchmarks.api import States
from memflow.errors import BadInput
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


@dataclass(frozen=True)
class OmittedItem:
    """A user or question that is omitted from the export, with the reason."""

    user_id: str
    question: str | None
    reason: str


@dataclass(frozen=True)
class UserExport:
    """The exported users, and the omitted users and questions."""

    users: list[dict[str, Any]]
    left_out: list[OmittedItem]

    @property
    def text(self) -> str:
        """The content of the file in the published format: JSON with an indentation of 2, without a final newline."""
        return json.dumps(self.users, ensure_ascii=False, indent=2)


def export_users(states: States, turns: Sequence[Turn], probes: Sequence[Probe]) -> UserExport:
    """Return the users of one domain in the published format, in the order of `states.profiles`.

    Raises BadInput for valid rows that the format cannot represent.
    """
    histories_by_user = histories(states)
    users: list[dict[str, Any]] = []
    omitted: list[OmittedItem] = []
    for profile in states.profiles:
        user_id = profile.user_id
        openings = sorted((turn for turn in turns if turn.episode_id == user_id), key=lambda turn: turn.event)
        user_probes = [probe for probe in probes if probe.episode_id == user_id and probe.kind == "choice"]
        reason = profile.reason
        for turn in openings:
            if reason is None and turn.reason is not None:
                reason = f"message {turn.message_id} is quarantined: {turn.reason}"
        if reason is not None:
            omitted.append(OmittedItem(user_id, None, reason))
            continue
        questions, omitted_questions = _question_json(user_probes, len(histories_by_user[user_id].periods))
        omitted += omitted_questions
        if not questions:
            omitted.append(OmittedItem(user_id, None, "the user has no valid question"))
            continue
        users.append(_user_json(histories_by_user[user_id], openings, questions))
    return UserExport(users, omitted)


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
    if missing := [name for name in history.schema if name not in state]:
        raise BadInput(
            f"user {history.profile.user_id}: the variable {missing[0]} has no value in period {period}. "
            "Run `memflow checks state/changes`."
        )
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
    if not turn.text.startswith(time_line):
        raise BadInput(
            f"message {turn.message_id} does not start with the time at which it was sent, "
            f"{turn.sent_at}. Rebuild utterance/turns."
        )
    events = {row.variable: row.event for row in history.changes[turn.checkpoint]}
    return {
        "event": next((events[name] for name in exposes if events.get(name) is not None), None),
        "exposed_states": exposes,
        "query": turn.text.removeprefix(time_line),
        "messages": [],
        "session_time": turn.sent_at,
    }


def _question_json(probes: Sequence[Probe], periods: int) -> tuple[list[dict[str, Any]], list[OmittedItem]]:
    """Return the questions in the published format, and the omitted questions with their reasons."""
    probes_by_question: dict[str, list[Probe]] = {}
    for probe in probes:
        probes_by_question.setdefault(probe.question, []).append(probe)
    questions, omitted = [], []
    for question, question_probes in probes_by_question.items():
        first = question_probes[0]
        reason = next((probe.reason for probe in question_probes if probe.reason is not None), None)
        if reason is not None:
            omitted.append(OmittedItem(first.episode_id, question, reason))
            continue
        if len(question_probes) != periods or len(first.variants) != len(first.options):
            raise BadInput(
                f"probe {first.probe_id}: its question does not have one probe per period ({periods}) and "
                "one state per option. Rebuild question/probes."
            )
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
    return questions, omitted
