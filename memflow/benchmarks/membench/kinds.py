"""The kinds of questions: what the data calls them and the paper, what level of memory they test, and about what.

Scenarios are what a trajectory is about: people, events, items, places, several of these, or what somebody likes.
Which scenarios a kind has in which scene is as in the published data (its factual part counts `noisy` in, which the
paper does not name: docs/fidelity.md).
"""

from dataclasses import dataclass, field
from typing import Literal

from memflow.errors import BadInput

Scene = Literal["participation", "observation"]
Level = Literal["factual", "reflective"]

SCENES: tuple[Scene, ...] = ("participation", "observation")
LEVELS: tuple[Level, ...] = ("factual", "reflective")

_PEOPLE = ("roles", "events")
_MOST = ("roles", "events", "hybrid")
_ALL = ("roles", "events", "items", "places", "hybrid")
_LIKED = ("movie", "food", "book")
EMOTION = "emotion"
"""The scenario of `highlevel` that asks for a mood and not for a preference."""
PREFERENCE = "preference"
"""What all else that is reflective asks for, stated or by way of recommendations (paper, tables 7 and 10)."""


@dataclass(frozen=True)
class Kind:
    """A kind of question. `told_by` says whose words the answer rests on where two speak."""

    name: str
    title: str
    abbreviation: str
    level: Level
    participation: tuple[str, ...]
    observation: tuple[str, ...] = ()
    told_by: Literal["user", "assistant"] = "user"
    names: tuple[str, ...] = field(default=())
    """What else published files call it."""

    def scenarios(self, scene: Scene) -> tuple[str, ...]:
        """The scenarios it has in a scene; none, where it is not asked there."""
        return self.participation if scene == "participation" else self.observation


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("simple", "single-hop", "sh", "factual", _PEOPLE, _ALL),
        Kind("conditional", "multi-hop", "mh", "factual", _PEOPLE, _ALL),
        Kind("comparative", "comparative", "comp", "factual", _PEOPLE, _MOST),
        Kind("aggregative", "aggregative", "agg", "factual", _PEOPLE, _MOST),
        Kind("post_processing", "post-processing", "pp", "factual", _PEOPLE, _ALL),
        Kind("noisy", "multi-hop, asked in passing", "noisy", "factual", _PEOPLE, _ALL),
        Kind("knowledge_update", "knowledge-updating", "ku", "factual", _PEOPLE, _PEOPLE),
        Kind("lowlevel_rec", "single-session-assistant", "ssa", "factual", _LIKED, told_by="assistant"),
        Kind(
            "rec_multi_session",
            "multi-session-assistant",
            "msa",
            "factual",
            ("multi_agent",),
            told_by="assistant",
            names=("RecMultiSession",),
        ),
        Kind(
            "highlevel", "preference or emotion", "pref", "reflective", (*_LIKED, EMOTION), (*_LIKED, EMOTION)
        ),
        Kind("highlevel_rec", "preference from recommendations", "pref-rec", "reflective", _LIKED),
    )
}
"""Every kind by its name, the factual ones first."""


def kind(name: str) -> Kind:
    """The kind that is called so, by its own name or a published one. Raises BadInput naming those there are."""
    for each in KINDS.values():
        if name == each.name or name in each.names:
            return each
    raise BadInput(f"there is no kind of question {name!r}; there are {', '.join(KINDS)}")


_NAMED = ("simple", "conditional", "comparative", "aggregative", "post_processing", "knowledge_update")
COLUMNS: dict[str, str] = {
    **{name: KINDS[name].abbreviation for name in (*_NAMED, "lowlevel_rec", "rec_multi_session", "noisy")},
    PREFERENCE: "pref",
    EMOTION: "emotion",
}
"""What the paper tells figures of (tables 10 to 12), in its order, and how it abbreviates it; it leaves `noisy` out."""


def column(of: Kind, scenario: str) -> str:
    """Under which of COLUMNS a question counts: its kind; what is reflective is of emotion, by its scenario, or of
    preference."""
    if of.level == "factual":
        return of.name
    return EMOTION if scenario == EMOTION else PREFERENCE
