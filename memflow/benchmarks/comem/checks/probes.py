"""The checks of options that name speakers.

What code derives from gold labels, such as the gold and evidence of probes, is tested in the test suite.
"""

from collections import defaultdict
from collections.abc import Sequence

from memflow.benchmarks.comem.contexts import unknown_option
from memflow.checks.rules import AcrossTables, Expectation, each_valid_row
from memflow.records import Probe, Turn


def _unknown_option_has_no_speaker(probe: Probe) -> bool:
    untold = unknown_option(probe.options)
    return untold is None or not any(probe.true_of[untold - 1 : untold])


def probes_with_absent_speakers(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes with an option about a speaker who has no message in the episode."""
    speakers: dict[str, set[str]] = defaultdict(set)
    for turn in turns:
        speakers[turn.episode_id].add(turn.speaker or "")
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and not speakers[probe.episode_id] >= set(filter(None, probe.true_of))
    ]


EXPECTED = (
    Expectation(
        "question.probes",
        "unknown_option_has_no_speaker",
        each_valid_row(_unknown_option_has_no_speaker),
    ),
    Expectation(
        "question.probes",
        "option_speakers_in_episode",
        AcrossTables(("question.probes", "utterance.turns"), probes_with_absent_speakers),
        "warn",
    ),
)
"""The checks of question.probes. Those of `true_of` pass where a benchmark does not set it."""
