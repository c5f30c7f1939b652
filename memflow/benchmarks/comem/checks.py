"""Recompute the gold of each probe with a rule-based label, from the messages before the probe only.

This module shares no code with the rules in `sources/`. Questions about scenes of FriendsQA are examined. All
others are counted as not examined.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from memflow.benchmarks.comem.config import CoMemConfig, parse_config
from memflow.benchmarks.comem.contexts import unknown_option
from memflow.benchmarks.domains import Domain
from memflow.checks.rules import AcrossTables, Findings, PerDomain, Rule, add_descriptions, expect
from memflow.records import Probe, Turn

_IN_SCENE = re.compile(r"In (season \d+, episode \d+, scene \d+)\b")
_WORD = re.compile(r"[^\W_]+")
"""A word of an answer, such as `Pete` in `Pete's`."""

Golds = frozenset[int] | None
"""The numbers of the options that the messages permit as gold, or None where they do not determine any."""


def examine_labels(config: CoMemConfig, probes: Sequence[Probe], turns: Sequence[Turn]) -> Findings:
    """Return the probes whose gold is none of the options that the messages permit."""
    said: dict[str, list[Turn]] = defaultdict(list)
    for turn in sorted(turns, key=lambda each: (each.event, each.position)):
        said[turn.episode_id].append(turn)
    asked = {(probe.question_id, probe.checkpoint): probe for probe in probes}
    # The gold at checkpoint 0, before the first message, is that of another checkpoint.
    guessed = 1 if config.guess_key == "first" else len(config.checkpoints)
    found, valid, examined = Findings(), 0, 0
    for at, probe in enumerate(probes):
        if probe.reason is not None:
            continue
        valid += 1
        source = probe if probe.checkpoint else asked.get((probe.question_id, guessed))
        golds = None if source is None else _golds(source, said[source.episode_id])
        if golds is None:
            continue
        examined += 1
        if probe.gold not in map(str, golds):
            found[at] = f"gold is {probe.gold!r}, and the messages before it permit {sorted(golds)}"
    missing = 1 - examined / valid if valid else 0.0
    found.note = f"examined {examined:,} of {valid:,} probes; not examined: {missing:.1%}"
    return found


def _golds(probe: Probe, said: Sequence[Turn]) -> Golds:
    visible = _before(probe, said)
    if scene := _IN_SCENE.match(probe.question):
        return _of_scene(probe, scene[1], said, visible)
    return None


def _before(probe: Probe, said: Sequence[Turn]) -> Sequence[Turn]:
    """Return the messages before a probe: up to `after`, or up to its checkpoint."""
    if probe.after is None:
        return [turn for turn in said if turn.checkpoint <= probe.checkpoint]
    end = next((at for at, turn in enumerate(said, 1) if turn.message_id == probe.after), 0)
    return said[:end]


def _of_scene(probe: Probe, place: str, said: Sequence[Turn], visible: Sequence[Turn]) -> Golds:
    """Return the options that the visible part of a scene permits.

    Before the scene, only the unknown option is permitted. After the scene, an option is permitted if its words, or one
    part of a person's name, occur in the scene. Within the scene, both kinds are permitted.
    """
    seen = [turn for turn in visible if turn.sent_at == place]
    whole = sum(turn.sent_at == place for turn in said)
    people = {turn.speaker for turn in said}
    texts = [f"{turn.speaker} {turn.text}" for turn in seen]
    unknown = _unknown(probe)

    def occurs(option: str) -> bool:
        phrases = option.split() if option in people else [option]
        return any(_contains(text, phrase) for text in texts for phrase in phrases)

    occurring = (
        frozenset(number for number, option in enumerate(probe.options, 1) if occurs(option)) - unknown
    )
    return occurring if seen and len(seen) == whole else occurring | unknown


def _unknown(probe: Probe) -> frozenset[int]:
    number = unknown_option(probe.options)
    return frozenset() if number is None else frozenset({number})


def _contains(text: str, phrase: str) -> bool:
    """Return whether a text contains the words of a phrase in sequence, without regard to case and punctuation."""
    return _plain(phrase) in _plain(text)


@lru_cache(maxsize=65536)
def _plain(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.replace('’', chr(39)).casefold()))} "


def _rule(domain: Domain) -> Rule | None:
    config = parse_config(domain)
    if config.keys != "rule":
        return None
    return AcrossTables(
        ("question.probes", "utterance.turns"), lambda probes, turns: examine_labels(config, probes, turns)
    )


EXPECTED = add_descriptions(
    expect("question.probes", {"rule_based_gold_matches_messages": PerDomain(_rule)}),
    "memflow.benchmarks.comem",
)
"""The check of rule-based labels."""
