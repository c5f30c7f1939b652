"""Sampling of published trajectories: a number per question kind and scenario, selected by the domain's seed."""

import random
from collections.abc import Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.kinds import EMOTION, KINDS
from memflow.benchmarks.membench.load import trajectory
from memflow.benchmarks.membench.turns import Trajectory
from memflow.fingerprint import seeded
from memflow.records import Record


def select_trajectories(domain: Domain, records: Sequence[Record]) -> list[Trajectory]:
    """Return the trajectories of the records that `select_records` selects for a domain."""
    return [trajectory(record) for record in select_records(domain, records)]


def select_records(domain: Domain, records: Sequence[Record]) -> list[Record]:
    """Return the records of the selected trajectories, in the order of their files.

    With a limit, take one trajectory of each kind and scenario in turn until the limit is reached.
    """
    parameters = parameters_of(domain)
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        # Only what is taken is read: a published file is long. What is no trajectory is of no scene.
        scene, *named = record.record_id.split("/")
        if scene == parameters.scene and _wanted(parameters, kind := named[0], scenario := named[1]):
            groups.setdefault((kind, scenario), []).append(record)
    drawn = [_draw_records(domain, parameters, name, group) for name, group in groups.items()]
    if domain.limit:
        return _in_turn(drawn)[: domain.limit]
    return [each for group in drawn for each in group]


def _wanted(parameters: Parameters, kind: str, scenario: str) -> bool:
    return (not parameters.kinds or kind in parameters.kinds) and (
        not parameters.scenarios or scenario in parameters.scenarios
    )


def _draw_records(
    domain: Domain, parameters: Parameters, name: tuple[str, str], records: list[Record]
) -> list[Record]:
    wanted = parameters.factual if KINDS[name[0]].level == "factual" else parameters.reflective
    if name[1] == EMOTION:
        wanted = parameters.emotion
    if wanted is None or wanted >= len(records):
        return records
    chance = random.Random(seeded(domain.seed, *name))
    return [records[place] for place in sorted(chance.sample(range(len(records)), wanted))]


def _in_turn(groups: Sequence[Sequence[Record]]) -> list[Record]:
    longest = max(map(len, groups), default=0)
    return [group[place] for place in range(longest) for group in groups if place < len(group)]
