"""Checks that questions cannot be answered without the dialogue, from their options or by a constant answer."""

from collections import Counter
from collections.abc import Sequence

from memflow.benchmarks.comem.contexts import unknown_option
from memflow.checks.rules import AcrossTables, Expectation, WholeTable
from memflow.records import Probe, Verdict

MAX_CONSTANT_ACCURACY = 0.5
"""Largest accuracy of a constant answer. In the paper's DialSim set, the "not enough information" option is gold at
every checkpoint for about 27 % of the questions."""


def probes_right_by_constant_answer(probes: Sequence[Probe]) -> list[int]:
    """Return the positions of probes that the best constant answer gets right, if its accuracy is above the limit.

    A constant answer is always the same option number, or always the "not enough information" option.
    """
    asked = [(at, probe) for at, probe in enumerate(probes) if probe.checkpoint and probe.reason is None]
    counts = Counter(name for _, probe in asked for name in _constant_answers(probe))
    if not counts:
        return []
    best, right = counts.most_common(1)[0]
    return (
        [at for at, probe in asked if best in _constant_answers(probe)]
        if right > MAX_CONSTANT_ACCURACY * len(asked)
        else []
    )


def _constant_answers(probe: Probe) -> set[str]:
    return {probe.gold, "no telling"} if probe.gold == str(unknown_option(probe.options)) else {probe.gold}


def right_answers_without_context(verdicts: Sequence[Verdict], probes: Sequence[Probe]) -> list[int]:
    """Return the positions of correct answers at checkpoint 0, if their number exceeds chance by 3 standard errors.

    No message is visible at checkpoint 0. Probes whose gold is the "not enough information" option are excluded.
    """
    chance = {
        probe.probe_id: 1 / len(probe.options)
        for probe in probes
        if probe.checkpoint == 0 and probe.options and probe.gold != str(unknown_option(probe.options))
    }
    asked = [
        at
        for at, row in enumerate(verdicts)
        if row.metric == "accuracy" and row.value is not None and row.probe_id in chance
    ]
    by_chance = sum(chance[verdicts[at].probe_id] for at in asked)
    spread = sum(chance[verdicts[at].probe_id] * (1 - chance[verdicts[at].probe_id]) for at in asked) ** 0.5
    right = [at for at in asked if verdicts[at].value == 1]
    return right if len(right) > by_chance + 3 * spread else []


EXPECTED = (
    Expectation(
        "question.probes",
        "constant_answer_accuracy_at_most_50_percent",
        WholeTable(probes_right_by_constant_answer),
        "warn",
    ),
    Expectation(
        "score.verdicts",
        "no_context_accuracy_not_above_chance",
        AcrossTables(("score.verdicts", "question.probes"), right_answers_without_context),
        "warn",
    ),
)
"""The checks of no-context accuracy."""
