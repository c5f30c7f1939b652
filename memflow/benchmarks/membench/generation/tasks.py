"""A trajectory that is to be planned: of whom, which kind and scenario, and by what chance. Types alone."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation.lives.graphs import Graph
from memflow.benchmarks.membench.generation.lives.preferences import Preferences, Topic
from memflow.benchmarks.membench.generation.lives.vocabulary import Language, Vocabulary
from memflow.benchmarks.membench.generation.plans import Plan, Query, Talk
from memflow.benchmarks.membench.kinds import Kind, Scene


@dataclass(frozen=True)
class Task:
    """One trajectory to be planned. `chance` is its own source of chance."""

    graph: Graph
    kind: Kind
    scenario: str
    number: int
    parameters: Parameters
    vocabulary: Vocabulary
    """The words that the user's life was drawn from."""
    preferences: Preferences
    """What people like."""
    chance: random.Random

    @property
    def language(self) -> Language:
        """The language that is spoken."""
        return self.parameters.language

    @property
    def scene(self) -> Scene:
        """Whether an assistant takes part."""
        return self.parameters.scene

    def categories(self, topic: str) -> Mapping[str, Sequence[str]]:
        """The categories of what is liked of a topic, with their items."""
        return self.preferences.of(cast(Topic, topic))

    def plan(self, talks: tuple[Talk, ...], query: Query) -> Plan:
        """The plan of these talks and this query."""
        return Plan(
            trajectory_id=f"{self.graph.user_id}/{self.kind.name}/{self.scenario}/{self.number}",
            user_id=self.graph.user_id,
            scene=self.scene,
            kind=self.kind,
            scenario=self.scenario,
            language=self.language,
            talks=talks,
            query=query,
        )


Planner = Callable[[Task], Plan]
"""What draws up a plan. It depends on the task alone."""
