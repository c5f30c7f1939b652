"""Which plans a domain has: of each user so many of each kind of question and scenario, drawn by the domain's seed."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from memflow.benchmarks.benchmark import States
from memflow.benchmarks.membench.generation.lives import Life, lives
from memflow.benchmarks.membench.generation.plans import Plan, Query, Talk
from memflow.benchmarks.membench.generation.preferences import Preferences, Topic, shipped
from memflow.benchmarks.membench.kinds import KINDS, Kind
from memflow.benchmarks.membench.parameters import Parameters, parameters_of
from memflow.domains import Domain
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class Task:
    """One trajectory to be planned. `chance` is its own source of chance."""

    life: Life
    kind: Kind
    scenario: str
    number: int
    parameters: Parameters
    preferences: Preferences
    chance: random.Random

    def categories(self, topic: str) -> Mapping[str, Sequence[str]]:
        """The categories of what is liked of a topic, with their items."""
        return self.preferences.of(cast(Topic, topic))

    def plan(self, talks: tuple[Talk, ...], query: Query) -> Plan:
        """The plan of these talks and this query."""
        return Plan(
            trajectory_id=f"{self.life.user_id}/{self.kind.name}/{self.scenario}/{self.number}",
            user_id=self.life.user_id,
            scene=self.parameters.scene,
            kind=self.kind,
            scenario=self.scenario,
            language=self.parameters.language,
            talks=talks,
            query=query,
        )


Planner = Callable[[Task], Plan]


def planners() -> dict[str, Planner]:
    """What draws up the plans of each kind of question, by its name."""
    from memflow.benchmarks.membench.generation import preferring, recommending  # noqa: PLC0415  (made of tasks)

    return {
        "lowlevel_rec": recommending.lowlevel_rec,
        "rec_multi_session": recommending.rec_multi_session,
        "highlevel": preferring.highlevel,
        "highlevel_rec": preferring.highlevel_rec,
    }


def plans(domain: Domain, states: States) -> list[Plan]:
    """Every plan of a domain, user by user, in the order of the kinds."""
    parameters = parameters_of(domain)
    known = planners()
    return [
        known[kind.name](
            Task(
                life,
                kind,
                scenario,
                number,
                parameters,
                shipped(parameters.language),
                random.Random(seeded(domain.seed, life.user_id, kind.name, scenario, number)),
            )
        )
        for life in lives(states, parameters.language)
        for kind in KINDS.values()
        if kind.name in known and (not parameters.kinds or kind.name in parameters.kinds)
        for scenario in kind.scenarios(parameters.scene)
        if not parameters.scenarios or scenario in parameters.scenarios
        for number in range(parameters.each)
    ]
