"""Functions for AMemGym's checks of question.probes. Each returns the positions of the rows that violate a check."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.amemgym.checks.states import states_at
from memflow.benchmarks.amemgym.config import AMemGymConfig
from memflow.records import Change, Probe, Variable


def probes_without_unique_gold(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `gold_is_only_option_matching_user_state`."""
    states = states_at(changes)
    found = []
    for at, probe in _choices(probes, changes):
        state = states[probe.episode_id, probe.checkpoint]
        present = [state.get(name) for name in probe.variables]
        right = [str(n) for n, variant in enumerate(probe.variants, 1) if json.loads(variant) == present]
        if right != [probe.gold]:
            found.append(at)
    return found


def probes_with_wrong_state(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of probes that violate the check `gold_context_matches_user_state`."""
    states = states_at(changes)
    found = []
    for at, probe in enumerate(probes):
        state = states.get((probe.episode_id, probe.checkpoint))
        if state is None or not probe.variables or probe.reason is not None:
            continue
        present = {name: state.get(name) for name in probe.variables}
        held = [probe.revealed, *([probe.gold] if probe.kind == "state" else [])]
        if any(_parse_json(text) != present for text in held):
            found.append(at)
    return found


def probes_outside_schema(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Return the positions of choice probes with an option whose state values are not in the schema."""
    schema = {(row.user_id, row.variable): row.choices for row in variables}

    def fits(probe: Probe, variant: str) -> bool:
        values = json.loads(variant)
        return len(values) == len(probe.variables) and all(
            value in schema.get((probe.episode_id, name), [])
            for name, value in zip(probe.variables, values, strict=True)
        )

    return [
        at
        for at, probe in _choices(probes, variables)
        if not all(fits(probe, variant) for variant in probe.variants)
    ]


def probes_with_duplicate_variants(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Return the positions of choice probes in which two options have equal state values, or an option has none."""
    return [
        at
        for at, probe in _choices(probes, variables)
        if len(set(probe.variants)) != len(probe.variants) or len(probe.variants) != len(probe.options)
    ]


def probes_with_changed_options(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `same_options_in_every_period`."""
    first: dict[tuple[str, str], Probe] = {}
    found = []
    for at, probe in sorted(_choices(probes, changes), key=lambda each: each[1].checkpoint):
        asked = first.setdefault((probe.episode_id, probe.question), probe)
        here, there = ((each.options, each.variants, each.variables) for each in (probe, asked))
        if here != there:
            found.append(at)
    return found


def questions_missing_in_periods(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of questions that do not have exactly one probe in each period."""
    periods: dict[str, set[int]] = defaultdict(set)
    for row in changes:
        periods[row.user_id].add(row.period)
    asked: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, probe in enumerate(probes):
        if probe.kind == "choice" and probe.variables and probe.episode_id in periods:
            asked[probe.episode_id, probe.question].append(at)
    return [
        at
        for (user, _), places in asked.items()
        if sorted(probes[at].checkpoint for at in places) != sorted(periods[user])
        for at in places
    ]


def questions_without_state_probe(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes with a variable that has no state probe at the same checkpoint."""
    asked = {
        (probe.episode_id, probe.checkpoint, name)
        for probe in probes
        if probe.kind == "state"
        for name in probe.variables
    }
    return [
        at
        for at, probe in _choices(probes, changes)
        if any((probe.episode_id, probe.checkpoint, name) not in asked for name in probe.variables)
    ]


def probes_with_unordered_options(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `options_gold_in_some_period_come_first`."""
    lived = _gold_options(probes, changes)
    return [
        at
        for at, probe in _choices(probes, changes)
        if lived[probe.episode_id, probe.question]
        != set(range(1, 1 + len(lived[probe.episode_id, probe.question])))
    ]


def probes_with_wrong_option_count(
    config: AMemGymConfig, probes: Sequence[Probe], changes: Sequence[Change]
) -> list[int]:
    """Return the positions of choice probes that violate the check `option_count_as_configured`."""
    lived = _gold_options(probes, changes)
    return [
        at
        for at, probe in _choices(probes, changes)
        if len(probe.options) != max(config.min_variants, len(lived[probe.episode_id, probe.question]))
    ]


def probes_with_wrong_variable_count(
    config: AMemGymConfig, probes: Sequence[Probe], changes: Sequence[Change]
) -> list[int]:
    """Return the positions of choice probes that violate the check `variables_per_question_as_configured`."""
    return [
        at for at, probe in _choices(probes, changes) if len(probe.variables) != config.variables_per_question
    ]


def probes_with_wrong_question_count(
    config: AMemGymConfig, probes: Sequence[Probe], changes: Sequence[Change]
) -> list[int]:
    """Return the positions of choice probes that violate the check `question_count_as_configured`."""
    users = {row.user_id for row in changes}
    asked: dict[str, set[str]] = defaultdict(set)
    for probe in probes:
        if probe.kind == "choice" and probe.variables and probe.episode_id in users:
            asked[probe.episode_id].add(probe.question)
    wrong = {user for user, questions in asked.items() if len(questions) != config.questions}
    return [at for at, probe in enumerate(probes) if probe.kind == "choice" and probe.episode_id in wrong]


def _choices(
    probes: Sequence[Probe], states: Sequence[Change] | Sequence[Variable]
) -> Iterator[tuple[int, Probe]]:
    """Yield (position, probe) for each valid choice probe whose user has states."""
    users = {row.user_id for row in states}
    for at, probe in enumerate(probes):
        if probe.kind == "choice" and probe.variables and probe.episode_id in users and probe.reason is None:
            yield at, probe


def _gold_options(probes: Sequence[Probe], changes: Sequence[Change]) -> dict[tuple[str, str], set[int]]:
    """Return the numbers of the options that are gold in at least one period, by user and question."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for _, probe in _choices(probes, changes):
        if probe.gold.isascii() and probe.gold.isdigit():
            found[probe.episode_id, probe.question].add(int(probe.gold))
    return found


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
