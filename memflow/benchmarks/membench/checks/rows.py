"""Checks of all turns and probes of MemBench, both published and generated.

A property that every question requires is an error; readers quarantine published questions without it. Decreasing times
are warnings, because the published data contains some (33 in data2test's 0-10k files, 6 in its 100k files).
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from memflow.benchmarks.membench.kinds import KINDS, SCENES
from memflow.benchmarks.membench.published.questions import OPTIONS
from memflow.benchmarks.membench.turns import is_noise, scenario_of
from memflow.benchmarks.membench.wording import parse_time
from memflow.checks.rules import (
    AcrossTables,
    EachRow,
    Expectation,
    Rule,
    Severity,
    WholeTable,
    each_valid_row,
)
from memflow.records import Probe, Turn

PositionedTurns = list[tuple[int, Turn]]


def by_trajectory(turns: Sequence[Turn]) -> Iterator[PositionedTurns]:
    """Yield, for each trajectory, its messages in order with their positions in the table."""
    found: dict[str, PositionedTurns] = {}
    for at, turn in enumerate(turns):
        found.setdefault(turn.episode_id, []).append((at, turn))
    for trajectory in found.values():
        yield sorted(trajectory, key=lambda each: (each[1].event, each[1].position))


def _four_options(probe: Probe) -> bool:
    return len({option.strip() for option in probe.options}) == len(probe.options) == OPTIONS


def _gold_is_the_answer(probe: Probe) -> bool:
    at = int(probe.gold) - 1 if probe.gold.isascii() and probe.gold.isdigit() else -1
    return 0 <= at < len(probe.options) and probe.options[at].strip() == probe.revealed.strip()


def _has_valid_kind(probe: Probe) -> bool:
    of = KINDS.get(probe.category or "")
    return of is not None and any(scenario_of(probe.episode_id) in of.scenarios(scene) for scene in SCENES)


def _find_missing_evidence(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes with evidence that is not in their episode or comes after the probe."""
    said = {turn.message_id: (turn.episode_id, turn.checkpoint) for turn in turns if turn.reason is None}

    def is_said(message: str, probe: Probe) -> bool:
        episode, checkpoint = said.get(message, ("", 0))
        return episode == probe.episode_id and checkpoint <= probe.checkpoint

    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and not all(is_said(message, probe) for message in probe.evidence)
    ]


def _is_noise_without_gold(turn: Turn) -> bool:
    return not is_noise(turn.message_id) or (turn.sent_at is None and turn.exposes is None)


def find_decreasing_times(turns: Sequence[Turn]) -> Collection[int]:
    """Return the positions of messages that are sent before the previous message with a time in the episode."""
    last: dict[str, datetime] = {}
    found: list[int] = []
    for at, turn in sorted(enumerate(turns), key=lambda each: (each[1].event, each[1].position)):
        moment = parse_time(turn.sent_at) if turn.sent_at else None
        if moment is None or turn.reason is not None:
            continue
        if moment < last.get(turn.episode_id, moment):
            found.append(at)
        last[turn.episode_id] = moment
    return sorted(found)


_TURNS, _PROBES = "utterance.turns", "question.probes"
_RULES: dict[tuple[str, Severity], dict[str, Rule]] = {
    (_TURNS, "error"): {"noise_messages_have_null_sent_at_and_exposes": EachRow(_is_noise_without_gold)},
    (_PROBES, "error"): {
        "four_distinct_options": each_valid_row(_four_options),
        "text_of_gold_option_equals_answer": each_valid_row(_gold_is_the_answer),
        "evidence_not_empty": each_valid_row(lambda probe: bool(probe.evidence)),
        "evidence_contains_no_noise": each_valid_row(lambda probe: not any(map(is_noise, probe.evidence))),
        "evidence_precedes_probe_in_its_episode": AcrossTables((_PROBES, _TURNS), _find_missing_evidence),
        "valid_question_kind_and_scenario": EachRow(_has_valid_kind),
    },
    (_TURNS, "warn"): {
        "message_times_are_parseable": EachRow(
            lambda turn: turn.sent_at is None or parse_time(turn.sent_at) is not None
        ),
        "message_times_never_decrease": WholeTable(find_decreasing_times),
    },
}

EXPECTED: tuple[Expectation, ...] = tuple(
    Expectation(table, name, rule, severity)
    for (table, severity), rules in _RULES.items()
    for name, rule in rules.items()
)
"""Checks of turns and probes."""
