"""Functions for AMemGym's checks of question.probes. Each returns the positions of the rows that violate a check."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from memflow.benchmarks.amemgym.checks.states import positions_where, states_at
from memflow.benchmarks.amemgym.config import AMemGymConfig
from memflow.records import Change, Probe, Variable


def probes_without_unique_gold(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `gold_is_only_option_matching_user_state`."""
    states = states_at(changes)

    def violates(probe: Probe) -> bool:
        state = states[probe.episode_id, probe.checkpoint]
        values = [state.get(name) for name in probe.variables]
        matching = [str(n) for n, variant in enumerate(probe.variants, 1) if json.loads(variant) == values]
        return matching != [probe.gold]

    return positions_where(_choices(probes, changes), violates)


def probes_with_wrong_state(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of probes that violate the check `gold_context_matches_user_state`."""
    states = states_at(changes)

    def violates(probe: Probe) -> bool:
        state = states.get((probe.episode_id, probe.checkpoint))
        if state is None or not probe.variables or probe.reason is not None:
            return False
        values = {name: state.get(name) for name in probe.variables}
        contexts = [probe.revealed, *([probe.gold] if probe.kind == "state" else [])]
        return any(_parse_json(text) != values for text in contexts)

    return positions_where(enumerate(probes), violates)


def probes_outside_schema(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Return the positions of choice probes with an option whose state values are not in the schema."""
    schema = {(row.user_id, row.variable): row.choices for row in variables}

    def fits(probe: Probe, variant: str) -> bool:
        values = json.loads(variant)
        return len(values) == len(probe.variables) and all(
            value in schema.get((probe.episode_id, name), [])
            for name, value in zip(probe.variables, values, strict=True)
        )

    return positions_where(
        _choices(probes, variables), lambda probe: not all(fits(probe, variant) for variant in probe.variants)
    )


def probes_with_duplicate_variants(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Return the positions of choice probes in which two options have equal state values, or an option has none."""
    return positions_where(
        _choices(probes, variables),
        lambda probe: (
            len(set(probe.variants)) != len(probe.variants) or len(probe.variants) != len(probe.options)
        ),
    )


def probes_with_changed_options(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `same_options_in_every_period`."""
    first_probes: dict[tuple[str, str], Probe] = {}
    positions = []
    for position, probe in sorted(_choices(probes, changes), key=lambda numbered: numbered[1].checkpoint):
        first_probe = first_probes.setdefault((probe.episode_id, probe.question), probe)
        if _option_columns(probe) != _option_columns(first_probe):
            positions.append(position)
    return positions


def questions_missing_in_periods(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of questions that do not have exactly one probe in each period."""
    periods: dict[str, set[int]] = defaultdict(set)
    for row in changes:
        periods[row.user_id].add(row.period)
    positions_by_question: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, probe in enumerate(probes):
        if probe.kind == "choice" and probe.variables and probe.episode_id in periods:
            positions_by_question[probe.episode_id, probe.question].append(position)
    return [
        position
        for (user, _), positions in positions_by_question.items()
        if sorted(probes[position].checkpoint for position in positions) != sorted(periods[user])
        for position in positions
    ]


def questions_without_state_probe(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes with a variable that has no state probe at the same checkpoint."""
    state_probes = {
        (probe.episode_id, probe.checkpoint, name)
        for probe in probes
        if probe.kind == "state"
        for name in probe.variables
    }
    return positions_where(
        _choices(probes, changes),
        lambda probe: any(
            (probe.episode_id, probe.checkpoint, name) not in state_probes for name in probe.variables
        ),
    )


def probes_with_unordered_options(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `options_gold_in_some_period_come_first`."""
    gold_options = _gold_options(probes, changes)

    def violates(probe: Probe) -> bool:
        numbers = gold_options[probe.episode_id, probe.question]
        return numbers != set(range(1, 1 + len(numbers)))

    return positions_where(_choices(probes, changes), violates)


def probes_with_wrong_option_count(
    config: AMemGymConfig, probes: Sequence[Probe], changes: Sequence[Change]
) -> list[int]:
    """Return the positions of choice probes that violate the check `option_count_as_configured`."""
    gold_options = _gold_options(probes, changes)
    return positions_where(
        _choices(probes, changes),
        lambda probe: (
            len(probe.options)
            != max(config.min_variants, len(gold_options[probe.episode_id, probe.question]))
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


def _gold_options(probes: Sequence[Probe], changes: Sequence[Change]) -> dict[tuple[str, str], set[int]]:
    """Return the numbers of the options that are gold in at least one period, by user and question."""
    gold_options: dict[tuple[str, str], set[int]] = defaultdict(set)
    for _, probe in _choices(probes, changes):
        if probe.gold.isascii() and probe.gold.isdigit():
            gold_options[probe.episode_id, probe.question].add(int(probe.gold))
    return gold_options


_option_columns = attrgetter("options", "variants", "variables")


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
