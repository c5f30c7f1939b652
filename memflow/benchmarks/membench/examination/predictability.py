"""A test of whether answers can be predicted from the words of the questions alone, without any message.

A naive Bayes classifier, trained on all other questions, chooses among the options of each question. If it is right
significantly more often than by chance, the questions reveal their answers.
"""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from memflow.records import Probe
from memflow.words import search_words

SIGNIFICANCE = 1e-4
"""Probability with which questions that reveal nothing are found predictable by chance."""


def predictable_answers(probes: Sequence[Probe]) -> tuple[float, float]:
    """Return the share of answers that the classifier predicts, and the probability of at least this share by chance.

    The probability is that of the binomial distribution with one right option among the options of each probe; all
    probes must have the same number of options. If the right option is among `n` options with the highest score, it
    counts as `1 / n`.
    """
    if not probes:
        return 0.0, 1.0
    words = [frozenset(search_words(probe.question)) for probe in probes]
    answers = Counter(probe.revealed for probe in probes)
    seen = Counter((probe.revealed, word) for probe, own in zip(probes, words, strict=True) for word in own)
    hits = Fraction(0)
    for probe, own in zip(probes, words, strict=True):
        scores = [_score(option, probe.revealed, own, answers, seen) for option in probe.options]
        best = [option for option, score in zip(probe.options, scores, strict=True) if score == max(scores)]
        hits += Fraction(probe.revealed in best, len(best))
    chance = 1 / len(probes[0].options)
    return float(hits / len(probes)), _upper_tail(math.floor(hits), len(probes), chance)


def _score(
    option: str,
    revealed: str,
    own: frozenset[str],
    answers: Counter[str],
    seen: Counter[tuple[str, str]],
) -> float:
    """Return the log likelihood of the question's words under an answer, learned from all other questions.

    The prior of all answers is uniform: a question whose words occur in no other question is not predictable.
    """
    held_out = option == revealed
    total = answers[option] - held_out
    return math.fsum(math.log((seen[option, word] - held_out + 0.5) / (total + 1)) for word in sorted(own))


def _upper_tail(hits: int, trials: int, chance: float) -> float:
    """Return the probability of at least `hits` successes under the binomial distribution."""
    return min(
        1.0,
        math.fsum(
            math.comb(trials, each) * chance**each * (1 - chance) ** (trials - each)
            for each in range(hits, trials + 1)
        ),
    )
