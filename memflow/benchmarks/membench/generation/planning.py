"""Which plans a domain has: of each user so many of each kind of question and scenario, drawn by the domain's seed."""

import random
from collections.abc import Mapping

from memflow.benchmarks.benchmark import States
from memflow.benchmarks.membench.generation import computing, factual, preferring, recommending
from memflow.benchmarks.membench.generation.graphs import graphs_of
from memflow.benchmarks.membench.generation.plans import Plan
from memflow.benchmarks.membench.generation.tasks import Planner, Task
from memflow.benchmarks.membench.kinds import KINDS
from memflow.benchmarks.membench.parameters import parameters_of
from memflow.domains import Domain
from memflow.fingerprint import seeded

PLANNERS: Mapping[str, Planner] = {
    **factual.PLANNERS,
    **computing.PLANNERS,
    **recommending.PLANNERS,
    **preferring.PLANNERS,
}
"""What draws up the plans of each kind of question, by its name."""


def plans(domain: Domain, states: States) -> list[Plan]:
    """Every plan of a domain, user by user, in the order of the kinds."""
    parameters = parameters_of(domain)
    wanted = [
        (kind, scenario)
        for kind in KINDS.values()
        if kind.name in PLANNERS and (not parameters.kinds or kind.name in parameters.kinds)
        for scenario in kind.scenarios(parameters.scene)
        if not parameters.scenarios or scenario in parameters.scenarios
    ]
    found = []
    for graph in graphs_of(states):
        for kind, scenario in wanted:
            for number in range(parameters.each):
                seed = seeded(domain.seed, graph.user_id, kind.name, scenario, number)
                task = Task(graph, kind, scenario, number, parameters, random.Random(seed))
                found.append(PLANNERS[kind.name](task))
    return found
