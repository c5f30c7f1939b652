"""A guesser that learns from other users' questions and options what an answer looks like."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from memflow.records import Probe

_WORD = re.compile(r"[a-z]+|[\u4e00-\u9fff]")


Features = Callable[[Probe, int], set[tuple[str, ...]]]
"""Returns the features of an option of a probe by its position."""


def option_features(probe: Probe, at: int) -> set[tuple[str, ...]]:
    """Return the position of an option and its text, alone and with each word of the question."""
    option = probe.options[at]
    words = _WORD.findall(probe.question.lower())
    return {("position", str(at)), (option,), *((word, option) for word in words)}


def features_with_ranks(probe: Probe, at: int) -> set[tuple[str, ...]]:
    """Return also how many options are shorter, have a lesser number, or are less like the rest, by question kind."""
    options = probe.options
    pairs = [{option[place : place + 2] for place in range(len(option) - 1)} for option in options]
    measures: dict[str, list[Any]] = {
        "length": [len(option) for option in options],
        "number": [tuple(map(int, re.findall(r"\d+", option))) for option in options],
        "likeness": [sum(len(own & other) for other in pairs) - len(own) for own in pairs],
    }
    ranks = {
        (name, str(probe.category), str(sum(other < own[at] for other in own)))
        for name, own in measures.items()
    }
    return ranks | option_features(probe, at)


class NaiveBayes:
    """A classifier of options, by the features that options of other users' probes had if they were right."""

    def __init__(self, probes: Sequence[Probe], features: Features = option_features) -> None:
        self.features = features
        self.counts: dict[bool, Counter[tuple[str, ...]]] = {True: Counter(), False: Counter()}
        self.options = Counter[bool]()
        for probe in probes:
            for at in range(len(probe.options)):
                is_gold = probe.gold == str(at + 1)
                self.options[is_gold] += 1
                self.counts[is_gold].update(features(probe, at))

    def guess(self, probe: Probe) -> str:
        """Return the number of the option that is most likely right."""
        likelihoods = [
            sum(self.evidence(feature) for feature in self.features(probe, at))
            for at in range(len(probe.options))
        ]
        return str(likelihoods.index(max(likelihoods)) + 1)

    def evidence(self, feature: tuple[str, ...]) -> float:
        """Return the log of the ratio of a feature's frequencies among right and other options."""
        right, other = (
            (self.counts[is_gold][feature] + 1) / (self.options[is_gold] + 2) for is_gold in (True, False)
        )
        return math.log(right / other)
