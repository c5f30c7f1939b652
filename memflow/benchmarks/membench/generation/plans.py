"""What a trajectory is to tell and what it is asked, before anybody words it. Types alone.

A plan depends on the user's graph, the domain's parameters and its seed alone, so that the steps of the walk that need
it (what is said, what is asked) each draw it up and have the same. Which plans there are is a matter of the kind of
question; how a plan is worded, the simulator's.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation.graphs import Graph
from memflow.benchmarks.membench.generation.preferences import Preferences, Topic
from memflow.benchmarks.membench.generation.vocabulary import Language, Vocabulary
from memflow.benchmarks.membench.kinds import QuestionKind, Scene


@dataclass(frozen=True)
class PlannedMessage:
    """One thing that a trajectory has to tell: a plain sentence of the user's, which the simulator words anew.

    `assistant` is what the assistant has to say in return, plainly; None leaves it to the simulator (and says nothing
    where one is observed). `keeps` are words that stay in the wording of a sentence that has them. `exposes` is gold,
    of the one who tells it: {"entity": ..., "attribute": ..., "value": ...}; None for a beat that is no evidence.
    """

    user: str
    assistant: str | None = None
    required_words: tuple[str, ...] = ()
    exposes: Mapping[str, str] | None = None


@dataclass(frozen=True)
class PlannedSession:
    """A session: beats in their order, and talk about nothing that is asked around them.

    That talk is either one of so many `rounds`, made from `context`, among which the beats are put at places of
    chance; or `fillers`, so many rounds (observed: messages) after each beat, about the beat's own topic.
    `avoids` are words that nobody is to say in the session, since they would say what is asked for. What is told
    `at_once` is told within minutes, where one is observed too.
    """

    topic: str
    messages: tuple[PlannedMessage, ...]
    context: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 0
    fillers: tuple[int, ...] = ()
    forbidden_words: tuple[str, ...] = ()
    within_minutes: bool = False


@dataclass(frozen=True)
class PlannedQuestion:
    """What is asked at the end. `evidence` are (talk, beat) pairs, by their place in the plan.

    `wrong` are options that stand beside the answer; where they are fewer than three, the simulator makes up the rest.
    `keeps` are words of the question that its wording keeps.
    `dated` says that the answer is the day that a relative time comes to, counted from when the evidence was said;
    `aside` that the question is put in passing, behind talk of something else (the kind `noisy`).
    """

    question: str
    answer: str
    evidence: tuple[tuple[int, int], ...]
    wrong: tuple[str, ...] = ()
    dated: bool = False
    aside: bool = False
    required_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrajectoryPlan:
    """A trajectory to be. Its id ends in `KIND/SCENARIO/NUMBER`."""

    trajectory_id: str
    user_id: str
    scene: Scene
    kind: QuestionKind
    scenario: str
    language: str
    sessions: tuple[PlannedSession, ...]
    query: PlannedQuestion


@dataclass(frozen=True)
class PlanRequest:
    """One trajectory to be planned. `chance` is its own source of chance."""

    graph: Graph
    kind: QuestionKind
    scenario: str
    number: int
    parameters: Parameters
    vocabulary: Vocabulary
    """The words that the user's life was drawn from."""
    preferences: Preferences
    """What people like."""
    rng: random.Random

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

    def plan(self, sessions: tuple[PlannedSession, ...], query: PlannedQuestion) -> TrajectoryPlan:
        """The plan of these talks and this query."""
        return TrajectoryPlan(
            trajectory_id=f"{self.graph.user_id}/{self.kind.name}/{self.scenario}/{self.number}",
            user_id=self.graph.user_id,
            scene=self.scene,
            kind=self.kind,
            scenario=self.scenario,
            language=self.language,
            sessions=sessions,
            query=query,
        )


Planner = Callable[[PlanRequest], TrajectoryPlan]
"""What draws up a plan. It depends on the task alone."""
