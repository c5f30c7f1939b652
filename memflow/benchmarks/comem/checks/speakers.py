"""The checks of `true_of`, on which the metrics of speaker confusion rest (speakers.py)."""

from collections import defaultdict
from collections.abc import Sequence

from memflow.benchmarks.comem.contexts import unknown_option
from memflow.checks.rules import AcrossTables, Expectation, each_valid_row
from memflow.records import Probe, Turn


def _one_speaker_per_option(probe: Probe) -> bool:
    return len(probe.true_of) in (0, len(probe.options))


def _unknown_option_has_no_speaker(probe: Probe) -> bool:
    untold = unknown_option(probe.options)
    return untold is None or not any(probe.true_of[untold - 1 : untold])


def probes_with_absent_speakers(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Find probes with an option that is true of somebody who never speaks in the episode."""
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
    Expectation(_PROBES, "one_speaker_per_option", each_valid_row(_one_speaker_per_option)),
    Expectation(_PROBES, "unknown_option_has_no_speaker", each_valid_row(_unknown_option_has_no_speaker)),
    Expectation(
        _PROBES,
        "option_speakers_in_episode",
        AcrossTables((_PROBES, "utterance.turns"), probes_with_absent_speakers),
        "warn",
    ),
)
"""The checks of `true_of`. They pass where a benchmark does not set it."""
