"""Which published trajectories a domain takes: so many of each kind and scenario, drawn by its seed."""

import random
from collections.abc import Sequence

from memflow.benchmarks.membench import memdaily
from memflow.benchmarks.membench.kinds import EMOTION
from memflow.benchmarks.membench.parameters import Parameters, parameters_of
from memflow.benchmarks.membench.trajectories import Trajectory
from memflow.domains import Domain
from memflow.fingerprint import seeded
from memflow.records import Record


def taken(domain: Domain, records: Sequence[Record]) -> list[Trajectory]:
    """The trajectories of a domain in the order of their files; with a limit, the first of each kind and scenario in
    turn, until there are so many."""
    parameters = parameters_of(domain)
    groups: dict[tuple[str, str], list[Trajectory]] = {}
    for each in map(memdaily.trajectory, records):
        if _wanted(parameters, each):
            groups.setdefault((each.kind.name, each.scenario), []).append(each)
    drawn = [_drawn(domain, parameters, name, held) for name, held in groups.items()]
    if not domain.limit:
        return [each for held in drawn for each in held]
    return _in_turn(drawn)[: domain.limit]


def _wanted(parameters: Parameters, each: Trajectory) -> bool:
    return (
        each.scene == parameters.scene
        and (not parameters.kinds or each.kind.name in parameters.kinds)
        and (not parameters.scenarios or each.scenario in parameters.scenarios)
    )


def _drawn(
    domain: Domain, parameters: Parameters, name: tuple[str, str], held: list[Trajectory]
) -> list[Trajectory]:
    first = held[0]
    wanted = parameters.factual if first.kind.level == "factual" else parameters.reflective
    if first.scenario == EMOTION:
        wanted = parameters.emotion
    if wanted is None or wanted >= len(held):
        return held
    chance = random.Random(seeded(domain.seed, *name))
    return [held[place] for place in sorted(chance.sample(range(len(held)), wanted))]


def _in_turn(groups: Sequence[Sequence[Trajectory]]) -> list[Trajectory]:
    longest = max(map(len, groups), default=0)
    return [held[place] for place in range(longest) for held in groups if place < len(held)]
