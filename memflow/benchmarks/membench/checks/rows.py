"""What must hold of MemBench's trajectories and questions, published or generated, as data.

What a question cannot do without is an error and blocks; a published question without it is quarantined by its reader
(published/questions.py), so that a row at fault here was damaged on its way. That times go forward is a warning: the
published clock draws its minutes anew each time, and so goes back now and then. Others have counted 33 such places in
data2test's 0-10k files (participation 3 reflective and 7 factual, observation 2 and 21) and 6 in its 100k files (0 and
3, 1 and 2).
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from memflow.benchmarks.membench.kinds import KINDS, SCENES
from memflow.benchmarks.membench.published.questions import OPTIONS
from memflow.benchmarks.membench.turns import is_noise, scenario_of
from memflow.benchmarks.membench.wording import moment_of
from memflow.checks.rules import AcrossTables, EachRow, Expectation, Rule, WholeTable, each_valid_row
from memflow.records import Probe, Turn


def _four_options(probe: Probe) -> bool:
    return len({option.strip() for option in probe.options}) == len(probe.options) == OPTIONS


def _gold_is_the_answer(probe: Probe) -> bool:
    at = int(probe.gold) - 1 if probe.gold.isascii() and probe.gold.isdigit() else -1
    return 0 <= at < len(probe.options) and probe.options[at].strip() == probe.revealed.strip()


def _is_of_a_scene(probe: Probe) -> bool:
    of = KINDS.get(probe.category or "")
    return of is not None and any(scenario_of(probe.episode_id) in of.scenarios(scene) for scene in SCENES)


def _not_said(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions that rest on what was never said in their episode, or is said after they are asked."""
    said = {turn.message_id: (turn.episode_id, turn.checkpoint) for turn in turns if turn.reason is None}

    def is_said(message: str, probe: Probe) -> bool:
        episode, checkpoint = said.get(message, ("", 0))
        return episode == probe.episode_id and checkpoint <= probe.checkpoint

    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and not all(is_said(message, probe) for message in probe.evidence)
    ]


def _noise_is_bare(turn: Turn) -> bool:
    return not is_noise(turn.message_id) or (turn.sent_at is None and turn.exposes is None)


def times_back(turns: Sequence[Turn]) -> Collection[int]:
    """Messages whose time is before that of the one before in their episode; those without a time are passed over."""
    last: dict[str, datetime] = {}
    found: list[int] = []
    for at, turn in sorted(enumerate(turns), key=lambda each: (each[1].event, each[1].position)):
        moment = moment_of(turn.sent_at) if turn.sent_at else None
        if moment is None or turn.reason is not None:
            continue
        if moment < last.get(turn.episode_id, moment):
            found.append(at)
        last[turn.episode_id] = moment
    return sorted(found)


_TURNS, _PROBES = "utterance.turns", "question.probes"
_MUST: dict[str, dict[str, Rule]] = {
    _TURNS: {"noise_has_no_time_and_tells_nothing": EachRow(_noise_is_bare)},
    _PROBES: {
        "questions_have_four_different_options": each_valid_row(_four_options),
        "the_option_of_the_gold_is_the_answer": each_valid_row(_gold_is_the_answer),
        "questions_rest_on_evidence": each_valid_row(lambda probe: bool(probe.evidence)),
        "evidence_is_no_noise": each_valid_row(lambda probe: not any(map(is_noise, probe.evidence))),
        "evidence_is_said_before_it_is_asked_for": AcrossTables((_PROBES, _TURNS), _not_said),
        "questions_are_of_a_kind_and_scenario_that_go_together": EachRow(_is_of_a_scene),
    },
}
"""Table and sentence to rule, for what blocks."""

_SHOULD: dict[str, dict[str, Rule]] = {
    _TURNS: {
        "times_can_be_read": EachRow(
            lambda turn: turn.sent_at is None or moment_of(turn.sent_at) is not None
        ),
        "times_go_forward": WholeTable(times_back),
    },
}
"""The same, for what warns."""

EXPECTED: tuple[Expectation, ...] = (
    *(Expectation(table, name, rule) for table, rules in _MUST.items() for name, rule in rules.items()),
    *(
        Expectation(table, name, rule, "warn")
        for table, rules in _SHOULD.items()
        for name, rule in rules.items()
    ),
)
"""MemBench's own expectations."""
