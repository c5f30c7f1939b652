"""The question kinds of MemBench, from kinds.toml: names in the data, memory level, scenarios and scenes.

A scenario is the topic of a trajectory: people, events, items, places, several of these, or preferences. Each kind has
the scenarios of the published data. Its factual part includes `noisy` (docs/explanation/membench.md).
"""

from dataclasses import dataclass, field
from typing import Literal

from memflow.benchmarks.packaged import load_toml
from memflow.errors import BadInput

Scene = Literal["participation", "observation"]
Level = Literal["factual", "reflective"]

SCENES: tuple[Scene, ...] = ("participation", "observation")
LEVELS: tuple[Level, ...] = ("factual", "reflective")

EMOTION = "emotion"
"""The scenario of `highlevel` that asks for a mood instead of a preference."""
PREFERENCE = "preference"
"""The category of all other reflective questions (paper, tables 7 and 10)."""


@dataclass(frozen=True)
class QuestionKind:
    """A question kind. In participation, the messages of `evidence_role` are the evidence."""

    name: str
    level: Level
    participation: tuple[str, ...]
    observation: tuple[str, ...] = ()
    evidence_role: Literal["user", "assistant"] = "user"
    names: tuple[str, ...] = field(default=())
    """Other names in published files."""

    def scenarios(self, scene: Scene) -> tuple[str, ...]:
        """Return the scenarios of this kind in a scene; empty if the scene has no questions of this kind."""
        return self.participation if scene == "participation" else self.observation


KINDS: dict[str, QuestionKind] = {
    name: QuestionKind(name, **fields) for name, fields in load_toml(__package__, "kinds.toml").items()
}
"""All kinds by name, factual ones first."""


def find_kind(name: str) -> QuestionKind:
    """Return the kind with this name or published name. Raises BadInput with the list of known kinds."""
    for each in KINDS.values():
        if name == each.name or name in each.names:
            return each
    raise BadInput(f"unknown question kind {name!r}; use one of {', '.join(KINDS)}")


def column(of: QuestionKind, scenario: str) -> str:
    """Return the table column of a question: the question kind if factual, otherwise `emotion` or `preference`."""
    if of.level == "factual":
        return of.name
    return EMOTION if scenario == EMOTION else PREFERENCE
