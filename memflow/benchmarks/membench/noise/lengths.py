"""Trajectories brought to the length that their domain sets: which noise is taken, and what it must not say.

How noise is woven in is weaving.py's; nothing here draws or places.
"""

from collections.abc import Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.noise import synthetic as noise_grammar
from memflow.benchmarks.membench.noise.conflicts import forbidden
from memflow.benchmarks.membench.noise.insertion import Unit, woven
from memflow.benchmarks.membench.published import noise as noise_files
from memflow.records import Entity, Probe, Record, Turn


def lengthened(
    domain: Domain,
    records: Sequence[Record],
    turns: Sequence[Turn],
    probes: Sequence[Probe] = (),
    entities: Sequence[Entity] = (),
) -> list[Turn]:
    """The messages with noise among them where the domain wants it. Of `probes`, as many as are known by then.

    Noise is published, where the domain's records hold it, and else of our own making. Raises BadInput where none can
    be had that is not in conflict.
    """
    if not parameters_of(domain).noise_tokens:
        return list(turns)
    return woven(domain, turns, pool_of(domain, records), forbidden(turns, probes, entities))


def pool_of(domain: Domain, records: Sequence[Record]) -> tuple[Unit, ...]:
    """The units of noise that the domain's trajectories draw from."""
    parameters = parameters_of(domain)
    published = noise_files.pool(records, parameters.scene)
    if published:
        return tuple(Unit(name, steps) for name, steps in published.items())
    return noise_grammar.pool(parameters.scene, parameters.language, parameters.noise_tokens)
