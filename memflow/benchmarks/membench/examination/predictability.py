"""Tests of whether answers can be predicted without any message: from the words of the questions, or from the options.

A naive Bayes classifier, trained on all other questions, chooses among the options of each question. If it is right
significantly more often than by chance, the questions or the options reveal the answers.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

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
    scores = [
        [_score(option, probe.revealed, own, answers, seen) for option in probe.options]
        for probe, own in zip(probes, words, strict=True)
    ]
    return _share_of_hits(probes, scores)


def predictable_options(probes: Sequence[Probe]) -> tuple[float, float]:
    """Return what `predictable_answers` returns, of a classifier that sees how each option compares to the others.

    It learns, by question kind, the ranks of right and of other options in length, in number and in likeness.
    """
    if not probes:
        return 0.0, 1.0
    ranks = [_ranks(probe) for probe in probes]
    seen: Counter[tuple[bool, str | None, tuple[str, int]]] = Counter()
    for probe, options in zip(probes, ranks, strict=True):
        for at, own in enumerate(options):
            seen.update((at == int(probe.gold) - 1, probe.category, rank) for rank in own)
    scores = []
    for probe, options in zip(probes, ranks, strict=True):
        held_out = Counter(
            (at == int(probe.gold) - 1, rank) for at, own in enumerate(options) for rank in own
        )
        ratios = {
            rank: math.log(
                (seen[True, probe.category, rank] - held_out[True, rank] + 1)
                / ((seen[False, probe.category, rank] - held_out[False, rank]) / (len(options) - 1) + 1)
            )
            for own in options
            for rank in own
        }
        scores.append([round(math.fsum(ratios[rank] for rank in own), 9) for own in options])
    return _share_of_hits(probes, scores)


def _ranks(probe: Probe) -> list[list[tuple[str, int]]]:
    """Return the ranks of each option: how many are shorter, have a lesser number, or are less like the rest."""
    options = probe.options
    numbers = [tuple(map(int, re.findall(r"\d+", option))) for option in options]
    pairs = [{option[at : at + 2] for at in range(len(option) - 1)} for option in options]
    measures: dict[str, list[Any]] = {
        "length": [len(option) for option in options],
        "number": numbers if len(set(numbers)) == len(options) else [0] * len(options),
        "likeness": [sum(len(own & other) for other in pairs) - len(own) for own in pairs],
    }
    return [
        [(name, sum(other < own[at] for other in own)) for name, own in measures.items()]
        for at in range(len(options))
    ]


def _share_of_hits(probes: Sequence[Probe], scores: Sequence[Sequence[float]]) -> tuple[float, float]:
    hits = Fraction(0)
    for probe, own in zip(probes, scores, strict=True):
        best = [option for option, score in zip(probe.options, own, strict=True) if score == max(own)]
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
    from scipy.special import betainc  # noqa: PLC0415  (its import takes 0.2 s)

    return float(betainc(hits, trials - hits + 1, chance)) if hits else 1.0
