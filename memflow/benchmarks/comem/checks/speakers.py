"""What must hold of whom options are true: errors that are another speaker's are counted by it (speakers.py)."""

from collections import defaultdict
from collections.abc import Sequence

from memflow.benchmarks.comem.contexts import unknowing
from memflow.checks.rules import AcrossTables, Expectation, each_valid_row
from memflow.records import Probe, Turn


def _of_each(probe: Probe) -> bool:
    return len(probe.true_of) in (0, len(probe.options))


def _of_nobody_where_there_is_no_telling(probe: Probe) -> bool:
    untold = unknowing(probe.options)
    return untold is None or not any(probe.true_of[untold - 1 : untold])


def _of_no_speaker(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Probes with an option that is true of somebody who never speaks in the episode."""
    speakers: dict[str, set[str]] = defaultdict(set)
    for turn in turns:
        speakers[turn.episode_id].add(turn.speaker or "")
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and not speakers[probe.episode_id] >= set(filter(None, probe.true_of))
    ]


_PROBES = "question.probes"

EXPECTED: tuple[Expectation, ...] = (
    Expectation(_PROBES, "options_are_true_of_as_many_as_there_are", each_valid_row(_of_each)),
    Expectation(
        _PROBES,
        "who_says_there_is_no_telling_names_nobody",
        each_valid_row(_of_nobody_where_there_is_no_telling),
    ),
    Expectation(
        _PROBES,
        "options_are_true_of_speakers",
        AcrossTables((_PROBES, "utterance.turns"), _of_no_speaker),
        "warn",
    ),
)
"""What is expected of options that are true of somebody; where a benchmark does not say of whom, it holds."""
