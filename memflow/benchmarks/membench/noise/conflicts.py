"""What noise must not say: it would answer, or contradict, what is asked of a trajectory (paper, section 4).

Of a trajectory that is every option of its questions, what is revealed to the oracle, every value that a message tells
(gold), and the name of every person, event, item and place of the user's life; and where it is about what the user
likes, that anybody likes or recommends anything. Noise that holds one of these, word for word, is in conflict; what is
done about that is weaving.py's and expectations/noise.py's.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from memflow.benchmarks.membench.turns import scenario_of
from memflow.records import Entity, Probe, Turn
from memflow.words import HAN

_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")
_APART = re.compile("[;；\n]")
_LIKED = frozenset({"movie", "food", "book", "multi_agent"})
"""Scenarios that are about what the user likes, or is recommended."""
_LIKING = (
    "I like;I also like;I really like;love;loved;enjoy;enjoyed;adore;favourite;favorite;prefer;fan of;fond of;"
    "recommend;recommended;喜欢;最爱;热爱;偏爱;爱吃;爱看;爱读;推荐"
)
_NOTHING = frozenset({" none ", " 无 "})
"""Options that say that there is nothing; words that any text has."""


def plain(text: str) -> str:
    """The words of `text`, or its Chinese characters, in lower case, each between spaces.

    So a phrase is in a text where its plain form is in the text's: at the edges of words, whatever stands between them.
    """
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).lower()))} "


def conflict(said: str, phrases: Collection[str]) -> str | None:
    """The first of `phrases` that stands in `said`, all of them plain; None where none does."""
    return next((phrase for phrase in phrases if phrase in said), None)


def forbidden(
    turns: Iterable[Turn], probes: Iterable[Probe], entities: Sequence[Entity] = ()
) -> dict[str, tuple[str, ...]]:
    """By trajectory, what noise in it must not say: plain phrases, in order."""
    told: dict[str, set[str]] = {}
    for turn in turns:
        held = told.setdefault(turn.episode_id, set())
        if turn.exposes is not None:
            held |= _phrases([str(json.loads(turn.exposes).get("value", ""))])
    for probe in probes:
        told.setdefault(probe.episode_id, set()).update(_phrases([*probe.options, probe.revealed]))
    names: dict[str, set[str]] = {}
    for entity in entities:
        names.setdefault(entity.user_id, set()).update(_phrases([entity.name]))
    likings = _phrases([_LIKING])
    for name, held in told.items():
        held.update(_of_user(name, names))
        if scenario_of(name) in _LIKED:
            held.update(likings)
    return {name: tuple(sorted(held)) for name, held in told.items()}


def _of_user(trajectory_id: str, names: Mapping[str, set[str]]) -> set[str]:
    """The names of the life that a trajectory is of: the user's id is what comes before KIND/SCENARIO/NUMBER."""
    return names.get(trajectory_id.rsplit("/", 3)[0], set())


def _phrases(texts: Iterable[str]) -> set[str]:
    """What each text says, plainly; answers to several questions at once, `A; B`, say several things."""
    found = {plain(part) for text in texts for part in _APART.split(text)}
    return {phrase for phrase in found if phrase.strip()} - _NOTHING
