"""A guesser that learns from other users' questions and options what an answer looks like."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from learned_guesser import NaiveBayes
from scipy.stats import binom

from memflow.benchmarks.retraction.plans import TOLD
from memflow.records import Probe
from tests.memflow.benchmarks.retraction.conftest import generate

FOUND_TWICE = 0.85
"""The share of right guesses about a fact before any change that its other question may share: 1 if they are equal."""
MARGIN = 0.05
"""How much more often than always "I can't answer that" the guesser may be right after changes."""


def find_give_aways(probes: Sequence[Probe]) -> dict[str, str]:
    """Return where the guesser is right more often than allowed, with its share: before any change, both, after.

    It learns from the first half of the users, and guesses for the others. Before any change, `I can't answer that` is
    never right, so chance is one of the other options. `both` is the share of right guesses that come in pairs.
    """
    users = list(dict.fromkeys(probe.episode_id for probe in probes))
    first = {*users[: len(users) // 2]}
    found: dict[str, str] = {}
    for when in ("before", "after"):
        asked = [
            probe for probe in probes if probe.options and (probe.checkpoint == TOLD) == (when == "before")
        ]
        classifier = NaiveBayes([probe for probe in asked if probe.episode_id in first])
        others = [probe for probe in asked if probe.episode_id not in first]
        by_fact: dict[tuple[str, ...], list[bool]] = {}
        for probe in others:
            right = classifier.guess(probe) == probe.gold
            by_fact.setdefault((probe.episode_id, *probe.variables), []).append(right)
        accuracy = sum(map(sum, by_fact.values())) / len(others)
        if when == "before":
            # The two questions about a fact are not independent, so its facts are the cases.
            low, high = binom.interval(0.95, len(by_fact), 1 / (len(others[0].options) - 1))
            if not low <= accuracy * len(by_fact) <= high:
                found[when] = f"{accuracy:.2f}"
            pairs = sum(map(all, by_fact.values()))
            if (both := pairs / len(by_fact) / accuracy) > FOUND_TWICE:
                found["both"] = f"{both:.2f}"
        elif accuracy > sum(not _names_value(probe) for probe in others) / len(others) + MARGIN:
            found[when] = f"{accuracy:.2f}"
    return found


def _names_value(probe: Probe) -> bool:
    """Return whether the gold is another option than that the answer cannot be said."""
    return probe.variants[int(probe.gold) - 1] != "[null]"


def _with_gold_first(probe: Probe, before: dict[str, Probe]) -> Probe:
    options = list(probe.options)
    options.insert(0, options.pop(int(probe.gold) - 1))
    return replace(probe, options=options, gold="1")


def _with_telling_word(probe: Probe, before: dict[str, Probe]) -> Probe:
    return probe if _names_value(probe) else replace(probe, question=f"Still: {probe.question}")


def _as_direct_question(probe: Probe, before: dict[str, Probe]) -> Probe:
    direct = before.get(probe.probe_id.rpartition("/")[0])
    if direct is None or probe.checkpoint != TOLD:
        return probe
    return replace(direct, probe_id=probe.probe_id)


@pytest.fixture(scope="module", params=["en", "zh"])
def probes(request) -> list[Probe]:
    """Return the questions with options about 20 users in one language."""
    return [probe for probe in generate(languages=(request.param,)).probes if probe.options]


def test_learned_guesser_is_at_chance_before_changes_and_no_better_than_a_constant_after(probes) -> None:
    assert find_give_aways(probes) == {}


@pytest.mark.parametrize(
    ("plant", "places"),
    [
        (_with_gold_first, {"before", "after"}),
        (_with_telling_word, {"after"}),
        (_as_direct_question, {"both"}),
    ],
)
def test_planted_give_away_is_found(
    probes, plant: Callable[[Probe, dict[str, Probe]], Probe], places: set[str]
) -> None:
    direct = {
        probe.probe_id.removesuffix("/direct"): probe
        for probe in probes
        if probe.probe_id.endswith("/direct")
    }
    assert places <= set(find_give_aways([plant(probe, direct) for probe in probes]))
