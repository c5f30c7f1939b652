"""Types of trajectory plans. A plan has the content of messages and question, for which the simulator writes the texts.

A plan depends only on the user's graph, the domain's parameters and its seed. So turns and probes can be generated in
separate steps.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation.graphs import Graph
from memflow.benchmarks.membench.generation.preferences import Topic, bundled_preferences
from memflow.benchmarks.membench.generation.vocabulary import Language, Vocabulary, bundled_vocabulary
from memflow.benchmarks.membench.kinds import QuestionKind, Scene
from memflow.benchmarks.membench.turns import ChoiceQuestion, Step, Trajectory


@dataclass(frozen=True)
class PlannedMessage:
    """A plain sentence of the user that the simulator rewords.

    `assistant` is the plain reply, or None if the simulator invents it. The wording must contain `required_words`.
    `exposes` is gold, {"entity": ..., "attribute": ..., "value": ...}, or None if the message is no evidence.
    """

    user: str
    assistant: str | None = None
    required_words: tuple[str, ...] = ()
    exposes: Mapping[str, str] | None = None


@dataclass(frozen=True)
class PlannedSession:
    """A session: messages in order, with unrelated conversation between them.

    The conversation is either `rounds` rounds about `context`, with the messages at random positions, or `fillers`
    rounds (messages in observation) after each message. `forbidden_words` must not occur in the session because they
    reveal the answer. With `within_minutes`, messages of an observed session are minutes apart.
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
    """The final question. Its evidence is the messages with gold (`exposes`).

    `wrong` lists three incorrect options. The wording must contain `required_words`. If `dated`, the options are times,
    and become the dates that they refer to in the evidence. If `aside`, small talk precedes the question (kind
    `noisy`). `stale` is the answer before its correction.
    """

    question: str
    answer: str
    wrong: tuple[str, ...] = ()
    dated: bool = False
    aside: bool = False
    required_words: tuple[str, ...] = ()
    stale: str | None = None


@dataclass(frozen=True)
class TrajectoryPlan:
    """The plan of a trajectory. The id ends in `KIND/SCENARIO/NUMBER`."""

    trajectory_id: str
    user_id: str
    scene: Scene
    kind: QuestionKind
    scenario: str
    language: Language
    sessions: tuple[PlannedSession, ...]
    query: PlannedQuestion

    def trajectory(
        self, dataset: str, steps: tuple[Step, ...] = (), questions: tuple[ChoiceQuestion, ...] = ()
    ) -> Trajectory:
        """Return the trajectory with these steps or questions. It is quarantined if a step is."""
        return Trajectory(
            trajectory_id=self.trajectory_id,
            dataset=dataset,
            scene=self.scene,
            kind=self.kind,
            scenario=self.scenario,
            language=self.language,
            steps=steps,
            questions=questions,
            reason=next((step.reason for step in steps if step.reason is not None), None),
        )


@dataclass(frozen=True)
class PlanRequest:
    """The inputs of one plan. `rng` is a random generator for this plan only."""

    graph: Graph
    kind: QuestionKind
    scenario: str
    number: int
    parameters: Parameters
    rng: random.Random

    @property
    def language(self) -> Language:
        """The language of the messages."""
        return self.parameters.language

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the user's graph."""
        return bundled_vocabulary(self.language)

    @property
    def scene(self) -> Scene:
        """The scene: participation if an assistant replies, otherwise observation."""
        return self.parameters.scene

    def categories(self, topic: str) -> Mapping[str, Sequence[str]]:
        """Return the items of a topic by category."""
        return bundled_preferences(self.language)[cast(Topic, topic)]

    def plan(self, sessions: tuple[PlannedSession, ...], query: PlannedQuestion) -> TrajectoryPlan:
        """Return the plan with these sessions and this question."""
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
"""Function that builds a plan from a request alone."""
