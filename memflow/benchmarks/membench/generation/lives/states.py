"""The state tables of a generated domain: a life for each of its users. No model is asked."""

from collections.abc import Sequence

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation.lives.graphs import rows
from memflow.benchmarks.membench.generation.lives.sampling import sample
from memflow.benchmarks.membench.generation.lives.sources import likes_of, words_of
from memflow.records import Record


def make_states(domain: Domain, records: Sequence[Record]) -> States:
    """The profiles and entities of `graphs` users, of fewer with a limit: the first. Raises BadInput, BadSettings."""
    parameters = parameters_of(domain)
    words, likes = words_of(domain, records), likes_of(domain, records)
    wanted = parameters.graphs or 0
    found = States([])
    for number in range(min(wanted, domain.limit or wanted)):
        life = sample(domain.seed, number, parameters, words, likes)
        profile, entities = rows(life, domain.name, words, parameters.start.date())
        found.profiles.append(profile)
        found.entities.extend(entities)
    return found
