"""Sampling of a domain's trajectory plans: for each user, a given number of plans per question kind and scenario."""

import random
from collections.abc import Mapping

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.generation import (
    computed_plans,
    factual_plans,
    preference_plans,
    recommendation_plans,
)
from memflow.benchmarks.membench.generation.graphs import load_graphs
from memflow.benchmarks.membench.generation.plans import Planner, PlanRequest, TrajectoryPlan
from memflow.benchmarks.membench.kinds import KINDS, QuestionKind
from memflow.fingerprint import seeded

PLANNERS: Mapping[str, Planner] = {
    **factual_plans.PLANNERS,
    **computed_plans.PLANNERS,
    **recommendation_plans.PLANNERS,
    **preference_plans.PLANNERS,
}
"""Planners by question kind."""


def planned_kinds(parameters: Parameters) -> list[tuple[QuestionKind, str]]:
    """Return the (kind, scenario) pairs of the questions that each user gets."""
    return [
        (kind, scenario)
        for kind in KINDS.values()
        if kind.name in PLANNERS and (not parameters.kinds or kind.name in parameters.kinds)
        for scenario in kind.scenarios(parameters.scene)
        if not parameters.scenarios or scenario in parameters.scenarios
    ]


def plan_trajectories(domain: Domain, states: States) -> list[TrajectoryPlan]:
    """Return all plans of a domain, by user, then by kind. Raises BadInput and BadSettings."""
    parameters = parameters_of(domain)
    found = []
    for graph in load_graphs(states):
        for kind, scenario in planned_kinds(parameters):
            for number in range(parameters.each):
                rng = random.Random(seeded(domain.seed, graph.user_id, kind.name, scenario, number))
                request = PlanRequest(graph, kind, scenario, number, parameters, rng)
                found.append(PLANNERS[kind.name](request))
    return found
