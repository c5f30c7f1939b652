"""The check of the benchmark: the evidence message of each probe contains the text of the gold option."""

from collections.abc import Sequence

from memflow.checks.rules import AcrossTables, Expectation
from memflow.records import Probe, Turn


def without_gold(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes whose evidence does not contain the gold option."""
    texts = {turn.message_id: turn.text for turn in turns}
    return [
        at
        for at, probe in enumerate(probes)
        if probe.options[int(probe.gold) - 1] not in texts.get(probe.evidence[0], "")
    ]


EXPECTED = (
    Expectation(
        "question.probes",
        "gold_in_evidence",
        AcrossTables(("question.probes", "utterance.turns"), without_gold),
        text="The text of each probe's first evidence message contains the text of the gold option.",
    ),
)
