"""Trajectories brought to the length that their domain sets: which noise is taken, and what it must not say.

How noise is woven in is noise.py's; nothing here draws or places.
"""

from collections.abc import Sequence

from memflow.benchmarks.membench.conflicts import forbidden
from memflow.benchmarks.membench.noise import woven
from memflow.benchmarks.membench.noise_grammar import pool
from memflow.benchmarks.membench.parameters import parameters_of
from memflow.domains import Domain
from memflow.records import Entity, Probe, Turn


def lengthened(
    domain: Domain, turns: Sequence[Turn], probes: Sequence[Probe] = (), entities: Sequence[Entity] = ()
) -> list[Turn]:
    """The messages with noise among them where the domain wants it. Of `probes`, as many as are known by then.

    Raises BadInput where no noise can be had that is not in conflict.
    """
    parameters = parameters_of(domain)
    if not parameters.noise_tokens:
        return list(turns)
    noise = pool(parameters.scene, parameters.language, parameters.noise_tokens)
    return woven(domain, turns, noise, forbidden(turns, probes, entities))
