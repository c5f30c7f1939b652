"""The checks of the rows of own dialogues. dialogues.py validates the files; these rules verify what became of them."""

from collections.abc import Sequence

from memflow.benchmarks.dialogues.probes import OpenGold
from memflow.checks.rules import (
    AcrossTables,
    add_descriptions,
    each_valid_row,
    expect,
)
from memflow.records import Probe, Turn


def _gold_is_valid(probe: Probe) -> bool:
    if probe.options:
        return probe.gold.isdecimal() and 1 <= int(probe.gold) <= len(probe.options)
    gold = OpenGold.unpacked(probe.gold)
    return gold.abstain != bool(gold.answers or gold.rubric)


def misplaced_probes(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of valid probes whose `after` message or evidence is missing, or whose evidence is later."""
    order = {
        turn.message_id: (turn.episode_id, turn.checkpoint, turn.event, turn.position)
        for turn in turns
        if turn.reason is None
    }

    def is_placed(probe: Probe) -> bool:
        asked = (
            order.get(probe.after)
            if probe.after is not None
            else (probe.episode_id, probe.checkpoint + 1, 0, 0)
        )
        found = [order.get(each) for each in probe.evidence]
        return (
            asked is not None
            and asked[0] == probe.episode_id
            and all(each is not None and each[0] == asked[0] and each <= asked for each in found)
        )

    return [at for at, probe in enumerate(probes) if probe.reason is None and not is_placed(probe)]


EXPECTED = add_descriptions(
    expect(
        "question.probes",
        {
            "gold_answers_are_valid": each_valid_row(_gold_is_valid),
            "evidence_before_question": AcrossTables(
                ("question.probes", "utterance.turns"), misplaced_probes
            ),
        },
    ),
    "memflow.benchmarks.dialogues",
)
"""The benchmark's own checks."""
