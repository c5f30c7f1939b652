"""Probes that are at fault: in their gold, in their options, in when they are asked."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.amemgym.checks.states import states_at
from memflow.benchmarks.amemgym.config import Sizes
from memflow.records import Change, Probe, Variable


def without_one_gold(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions of which not exactly one option is for the present state, or another one is the gold."""
    states = states_at(changes)
    found = []
    for at, probe in _choices(probes, changes):
        state = states[probe.episode_id, probe.checkpoint]
        present = [state.get(name) for name in probe.variables]
        right = [str(n) for n, variant in enumerate(probe.variants, 1) if json.loads(variant) == present]
        if right != [probe.gold]:
            found.append(at)
    return found


def not_the_state(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Probes that reveal, or as state probes hold for right, other values than the present ones."""
    states = states_at(changes)
    found = []
    for at, probe in enumerate(probes):
        state = states.get((probe.episode_id, probe.checkpoint))
        if state is None or not probe.variables or probe.reason is not None:
            continue
        present = {name: state.get(name) for name in probe.variables}
        held = [probe.revealed, *([probe.gold] if probe.kind == "state" else [])]
        if any(_loaded(text) != present for text in held):
            found.append(at)
    return found


def of_no_schema(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Questions with an option for values that their variables cannot have."""
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


def options_of_one_state(probes: Sequence[Probe], variables: Sequence[Variable]) -> list[int]:
    """Questions with two options for the same state, or as many states as there are no options."""
    return [
        at
        for at, probe in _choices(probes, variables)
        if len(set(probe.variants)) != len(probe.variants) or len(probe.variants) != len(probe.options)
    ]


def changed_options(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions with other options, or in another order, than in the first period that they are asked in."""
    first: dict[tuple[str, str], Probe] = {}
    found = []
    for at, probe in sorted(_choices(probes, changes), key=lambda each: each[1].checkpoint):
        asked = first.setdefault((probe.episode_id, probe.question), probe)
        here, there = ((each.options, each.variants, each.variables) for each in (probe, asked))
        if here != there:
            found.append(at)
    return found


def not_asked_in_every_period(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that are not asked exactly once after each period of their user."""
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


def undiagnosed(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that depend on a variable for which no state probe asks at the same checkpoint."""
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


def unlived_before_lived(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions with an option that some period makes right, after one that none does."""
    lived = _lived(probes, changes)
    return [
        at
        for at, probe in _choices(probes, changes)
        if lived[probe.episode_id, probe.question]
        != set(range(1, 1 + len(lived[probe.episode_id, probe.question])))
    ]


def other_number_of_options(sizes: Sizes, probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that have not an option for each state that is lived through, filled up to the least number."""
    lived = _lived(probes, changes)
    return [
        at
        for at, probe in _choices(probes, changes)
        if len(probe.options) != max(sizes.min_variants, len(lived[probe.episode_id, probe.question]))
    ]


def other_number_of_variables(sizes: Sizes, probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions that depend on more or fewer variables than is set."""
    return [
        at for at, probe in _choices(probes, changes) if len(probe.variables) != sizes.variables_per_question
    ]


def other_number_of_questions(sizes: Sizes, probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Questions of users that have more or fewer of them than is set."""
    users = {row.user_id for row in changes}
    asked: dict[str, set[str]] = defaultdict(set)
    for probe in probes:
        if probe.kind == "choice" and probe.variables and probe.episode_id in users:
            asked[probe.episode_id].add(probe.question)
    wrong = {user for user, questions in asked.items() if len(questions) != sizes.questions}
    return [at for at, probe in enumerate(probes) if probe.kind == "choice" and probe.episode_id in wrong]


def _choices(
    probes: Sequence[Probe], states: Sequence[Change] | Sequence[Variable]
) -> Iterator[tuple[int, Probe]]:
    """The multiple choices, and where they stand, that are asked of users with states and are not quarantined."""
    users = {row.user_id for row in states}
    for at, probe in enumerate(probes):
        if probe.kind == "choice" and probe.variables and probe.episode_id in users and probe.reason is None:
            yield at, probe


def _lived(probes: Sequence[Probe], changes: Sequence[Change]) -> dict[tuple[str, str], set[int]]:
    """For each user's question the numbers of the options that some period makes right."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for _, probe in _choices(probes, changes):
        if probe.gold.isascii() and probe.gold.isdigit():
            found[probe.episode_id, probe.question].add(int(probe.gold))
    return found


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
