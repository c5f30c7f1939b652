"""The consequences of an assistant's health for its scores: a faulty memory is not measured, a suspect one is flagged.

`combine_scores` and `comparison_rows` apply them, so that no view of scores has to. memflow/scoring/health measures the
health.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

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
    """The state of an assistant's health in a domain, and its statement (`memflow.scoring.health.overall`)."""

    state: str
    statement: str

    @property
    def is_faulty(self) -> bool:
        """Whether the assistant is not measured."""
        return self.state == FAULTY


def is_faulty(assistant: str, health: Mapping[str, AssistantHealth]) -> bool:
    """Return whether an assistant was examined and is faulty."""
    return assistant in health and health[assistant].is_faulty


def with_health(scores: Iterable[Score], health: Mapping[str, AssistantHealth]) -> list[Score]:
    """Return the scores of a domain with the health of their assistants; those of faulty ones without any value.

    A withheld score covers nothing: its `n`, episodes and coverage are 0.
    """
    return [_with_health(score, health.get(score.assistant)) for score in scores]


def _with_health(score: Score, health: AssistantHealth | None) -> Score:
    if health is None:
        return score
    stated = replace(
        score, health=health.state, health_reason=health.statement if health.state in ALARMS else None
    )
    if not health.is_faulty:
        return stated
    return replace(
        stated,
        value=None,
        low=None,
        high=None,
        interval_reason=None,
        judge_low=None,
        judge_high=None,
        deviation=None,
        n=0,
        n_episodes=0,
        coverage=0.0,
        reason=f"{NOT_MEASURED}: {health.statement}",
    )


def with_pair_health(rows: Iterable[Comparison], health: Mapping[str, AssistantHealth]) -> list[Comparison]:
    """Return the comparisons of a domain with the health of both assistants; the reason names faulty ones."""
    return [_with_pair_health(row, health) for row in rows]


def _with_pair_health(row: Comparison, health: Mapping[str, AssistantHealth]) -> Comparison:
    pair = {name: health[name] for name in (row.a, row.b) if name in health}
    faults = [
        f"{name} is {NOT_MEASURED}: {health.statement}" for name, health in pair.items() if health.is_faulty
    ]
    states = {name: health.state for name, health in pair.items()}
    stated = replace(row, health_a=states.get(row.a), health_b=states.get(row.b))
    return replace(stated, reason="; ".join(faults)) if faults else stated


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
