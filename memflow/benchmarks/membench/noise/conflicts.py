"""Phrases that noise must not contain, because they would answer or contradict a question (paper, section 4).

Forbidden phrases are all options, the oracle's gold context, gold values of messages, and names in the user's graph.
For trajectories about preferences, phrases of liking and recommending are forbidden too.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from memflow.benchmarks.membench.turns import scenario_of
from memflow.records import Entity, Probe, Turn
from memflow.words import HAN

_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")
_APART = re.compile("[;；\n]")
_PREFERENCE_SCENARIOS = frozenset({"movie", "food", "book", "multi_agent"})
"""Scenarios about preferences or recommendations."""
_PREFERENCE_PHRASES = (
    "I like;I also like;I really like;love;loved;enjoy;enjoyed;adore;favourite;favorite;prefer;fan of;fond of;"
    "recommend;recommended;喜欢;最爱;热爱;偏爱;爱吃;爱看;爱读;推荐"
)
_EMPTY_ANSWERS = frozenset({" none ", " 无 "})
"""Options that mean "none"; these words occur in any text."""


def normalize(text: str) -> str:
    """Return the lower-case words, or Chinese characters, of `text`, each between spaces.

    A text contains a phrase if its normalized form contains the normalized phrase. So matches respect word boundaries
    and ignore punctuation.
    """
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).lower()))} "


def find_conflict(said: str, phrases: Collection[str]) -> str | None:
    """Return the first phrase that `said` contains, or None. All texts must be normalized."""
    return next((phrase for phrase in phrases if phrase in said), None)


def forbidden_phrases(
    turns: Iterable[Turn], probes: Iterable[Probe], entities: Sequence[Entity] = ()
) -> dict[str, tuple[str, ...]]:
    """Return, by trajectory, the normalized phrases that noise must not contain."""
    phrases: dict[str, set[str]] = {}
    for turn in turns:
        own = phrases.setdefault(turn.episode_id, set())
        if turn.exposes is not None:
            own |= _phrases([str(json.loads(turn.exposes).get("value", ""))])
    for probe in probes:
        phrases.setdefault(probe.episode_id, set()).update(_phrases([*probe.options, probe.revealed]))
    names: dict[str, set[str]] = {}
    for entity in entities:
        names.setdefault(entity.user_id, set()).update(_phrases([entity.name]))
    likings = _phrases([_PREFERENCE_PHRASES])
    for name, own in phrases.items():
        user_id = name.rsplit("/", 3)[0]  # before KIND/SCENARIO/NUMBER
        own.update(names.get(user_id, ()))
        if scenario_of(name) in _PREFERENCE_SCENARIOS:
            own.update(likings)
    return {name: tuple(sorted(own)) for name, own in phrases.items()}


def _phrases(texts: Iterable[str]) -> set[str]:
    """Return the normalized parts of texts. An answer to several questions, `A; B`, has several parts."""
    found = {normalize(part) for text in texts for part in _APART.split(text)}
    return {phrase for phrase in found if phrase.strip()} - _EMPTY_ANSWERS
