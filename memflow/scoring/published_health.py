"""The consequences of an assistant's health for its scores: a faulty memory is not measured, a suspect one is flagged.

`combine_scores` and `comparison_table` apply them, so that no view of scores has to. memflow/scoring/health measures
the health.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memflow.records import Comparison, Score
from memflow.scoring.health.states import FAULTY, SUSPECT

ALARMS = (FAULTY, SUSPECT)
"""The states that every view of scores shows, the worst first."""
ADVICE = {
    FAULTY: "Fix the memory (`memflow memories check` tests it alone), then rerun.",
    SUSPECT: "Fix the memory, or declare its design if it does this on purpose, then rerun.",
}
"""What to do next, by state."""
NOT_MEASURED = "not measured"
"""What views show in place of a value of a faulty memory."""


@dataclass(frozen=True, slots=True)
class AssistantHealth:
    """An assistant's health in a domain: one of STATES (health/states.py), and its statement (health `overall`)."""

    state: str
    statement: str

    @property
    def is_faulty(self) -> bool:
        """Whether the assistant is not measured."""
        return self.state == FAULTY


def health_of(score: Score) -> AssistantHealth | None:
    """Return the health that a score states; None if the memory was not examined."""
    return None if score.health is None else AssistantHealth(score.health, score.health_reason or "")


def is_faulty(assistant: str, health: Mapping[str, AssistantHealth]) -> bool:
    """Return whether an assistant was examined and is faulty."""
    return assistant in health and health[assistant].is_faulty


def with_health(scores: Iterable[Score], health: Mapping[str, AssistantHealth]) -> list[Score]:
    """Return the scores of a domain with the health of their assistants. Scores of faulty assistants have no value.

    A withheld score covers nothing: its `n`, episodes and coverage are 0.
    """
    columns = {assistant: health_columns(of_assistant) for assistant, of_assistant in health.items()}
    return [
        replace(score, **columns[score.assistant]) if score.assistant in columns else score
        for score in scores
    ]


def health_columns(health: AssistantHealth) -> dict[str, Any]:
    """Return `health` and `health_reason` of a score; for a faulty memory also columns without values, and `reason`."""
    columns: dict[str, Any] = {
        "health": health.state,
        "health_reason": health.statement if health.state in ALARMS else None,
    }
    if health.is_faulty:
        withheld = ("value", "low", "high", "interval_reason", "judge_low", "judge_high", "deviation")
        columns |= dict.fromkeys(withheld) | {"n": 0, "n_episodes": 0, "coverage": 0.0}
        columns["reason"] = f"{NOT_MEASURED}: {health.statement}"
    return columns


def with_pair_health(rows: Iterable[Comparison], health: Mapping[str, AssistantHealth]) -> list[Comparison]:
    """Return the comparisons of a domain with the health of both assistants; the reason names faulty ones."""
    return [_with_pair_health(row, health) for row in rows]


def _with_pair_health(row: Comparison, health: Mapping[str, AssistantHealth]) -> Comparison:
    """Return a comparison with the health of both assistants, and a reason if one of them is faulty."""
    states = {name: health[name].state for name in (row.a, row.b) if name in health}
    faults = [
        f"{name} is {NOT_MEASURED}: {health[name].statement}" for name in states if health[name].is_faulty
    ]
    row = replace(row, health_a=states.get(row.a), health_b=states.get(row.b))
    return replace(row, reason="; ".join(faults)) if faults else row


@dataclass(frozen=True, slots=True)
class HealthAlarm:
    """A faulty or suspect assistant of a domain, and the statement of its health."""

    domain: str
    assistant: str
    state: str
    statement: str

    @property
    def line(self) -> str:
        """The alarm in words."""
        return f"{self.domain}: {self.assistant}: {self.statement}"


def flagged(assistant: str, scores: Iterable[Score | None]) -> str:
    """Return the name of an assistant, with its state if any of its scores is of a faulty or suspect memory."""
    states = {score.health for score in scores if score is not None}
    state = next((state for state in ALARMS if state in states), None)
    return assistant if state is None else f"{assistant} ({state})"


def health_alarms(scores: Iterable[Score]) -> list[HealthAlarm]:
    """Return the faulty and suspect assistants of scores, faulty ones first."""
    states = {
        HealthAlarm(score.domain, score.assistant, score.health, score.health_reason or "")
        for score in scores
        if score.health in ALARMS
    }
    return sorted(states, key=lambda alarm: (ALARMS.index(alarm.state), alarm.domain, alarm.assistant))
