"""Functions for AMemGym's checks of question.probes. Each returns the positions of the rows that violate a check."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

from memflow.benchmarks.amemgym.checks.states import positions_where, states_at
from memflow.benchmarks.amemgym.config import AMemGymConfig
from memflow.records import Change, Probe, Variable


def probes_without_unique_gold(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `gold_is_only_option_matching_user_state`."""
    states = states_at(changes)

    def violates(probe: Probe) -> bool:
        state = states[probe.episode_id, probe.checkpoint]
        values = [state.get(name) for name in probe.variables]
        matching = [
            str(number) for number, variant in enumerate(probe.variants, 1) if json.loads(variant) == values
        ]
        return matching != [probe.gold]

    return positions_where(_choices(probes, changes), violates)


def probes_outside_schema(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Return the positions of choice probes with an option whose state values are not in the schema."""
    schema = {(row.user_id, row.variable): row.choices for row in variables}

    def fits(probe: Probe, variant: str) -> bool:
        values = json.loads(variant)
        if len(values) != len(probe.variables):
            return False
        choices = [schema.get((probe.episode_id, name), []) for name in probe.variables]
        return all(value in choices_of for value, choices_of in zip(values, choices, strict=True))

    def violates(probe: Probe) -> bool:
        return not all(fits(probe, variant) for variant in probe.variants)

    return positions_where(_choices(probes, variables), violates)


def probes_with_duplicate_variants(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Return the positions of choice probes in which two options have equal state values, or an option has none."""
    return positions_where(
        _choices(probes, variables),
        lambda probe: (
            len(set(probe.variants)) != len(probe.variants) or len(probe.variants) != len(probe.options)
        ),
    )


def probes_with_wrong_variable_count(
    config: AMemGymConfig, probes: Sequence[Probe], changes: Sequence[Change]
) -> list[int]:
    """Return the positions of choice probes that violate the check `variables_per_question_as_configured`."""
    return positions_where(
        _choices(probes, changes), lambda probe: len(probe.variables) != config.variables_per_question
    )


def probes_with_wrong_question_count(
    config: AMemGymConfig, probes: Sequence[Probe], changes: Sequence[Change]
) -> list[int]:
    """Return the positions of choice probes that violate the check `question_count_as_configured`."""
    users = {row.user_id for row in changes}
    questions_of: dict[str, set[str]] = defaultdict(set)
    for probe in probes:
        if probe.kind == "choice" and probe.variables and probe.episode_id in users:
            questions_of[probe.episode_id].add(probe.question)
    faulty = {user for user, questions in questions_of.items() if len(questions) != config.questions}
    return positions_where(
        enumerate(probes), lambda probe: probe.kind == "choice" and probe.episode_id in faulty
    )


def _choices(
    probes: Sequence[Probe], states: Sequence[Change] | Sequence[Variable]
) -> Iterator[tuple[int, Probe]]:
    """Yield (position, probe) for each valid choice probe whose user has states."""
    users = {row.user_id for row in states}
    for position, probe in enumerate(probes):
        if probe.kind == "choice" and probe.variables and probe.episode_id in users and probe.reason is None:
            yield position, probe
