"""How far one comes without any memory: questions whose options give the answer away, and keys that are all alike.

Neither makes a figure wrong, but it says little of a memory then; so it warns. What guessing comes to stands beside
every figure too.
"""

from collections import Counter
from collections.abc import Sequence

from memflow.benchmarks.comem.checks.rows import PROBES, VERDICTS
from memflow.benchmarks.comem.contexts import unknowing
from memflow.checks.rules import Across, Expectation, Together
from memflow.records import Probe, Verdict

MOST = 0.5
"""Share of what is asked that may be answered rightly by always giving the same answer. In the paper's DialSim set
about 27 % of the questions are answered at every checkpoint by saying that there is no telling."""


def always_the_same(probes: Sequence[Probe]) -> list[int]:
    """What the best constant answer gets right, where that is more than `MOST`: always the option of one number, or
    always that there is no telling."""
    asked = [(at, probe) for at, probe in enumerate(probes) if probe.checkpoint and probe.reason is None]
    counts = Counter(name for _, probe in asked for name in _constants(probe))
    if not counts:
        return []
    best, right = counts.most_common(1)[0]
    return [at for at, probe in asked if best in _constants(probe)] if right > MOST * len(asked) else []


def _constants(probe: Probe) -> set[str]:
    """The constant answers that are right here."""
    return {probe.gold, "no telling"} if probe.gold == str(unknowing(probe.options)) else {probe.gold}


def guessed(verdicts: Sequence[Verdict], probes: Sequence[Probe]) -> list[int]:
    """Right answers at checkpoint 0, where these are more than guessing brings: by 3 standard errors.

    Nothing was said by then: whoever answers goes by the options, and by what everybody knows. Where the key is that
    there is no telling, to say so is no guess.
    """
    chance = {
        probe.probe_id: 1 / len(probe.options)
        for probe in probes
        if probe.checkpoint == 0 and probe.options and probe.gold != str(unknowing(probe.options))
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
    Expectation(PROBES, "no_constant_answer_is_mostly_right", Together(always_the_same), "warn"),
    Expectation(VERDICTS, "guesses_are_near_chance", Across((VERDICTS, PROBES), guessed), "warn"),
)
"""What is expected of guesses."""
