"""Functions for AMemGym's checks of question.probes."""

import json
from collections.abc import Sequence

from memflow.benchmarks.amemgym.checks.states import states_at
from memflow.records import Change, Probe


def probes_without_unique_gold(probes: Sequence[Probe], changes: Sequence[Change]) -> list[int]:
    """Return the positions of choice probes that violate the check `gold_is_only_option_matching_user_state`."""
    states = states_at(changes)
    users = {user for user, _ in states}

    def violates(probe: Probe) -> bool:
        state = states[probe.episode_id, probe.checkpoint]
        values = [state.get(name) for name in probe.variables]
        matching = [
            str(number) for number, variant in enumerate(probe.variants, 1) if json.loads(variant) == values
        ]
        return matching != [probe.gold]

    return [
        position
        for position, probe in enumerate(probes)
        if _is_valid_choice(probe) and probe.episode_id in users and violates(probe)
    ]


def has_distinct_variants(probe: Probe) -> bool:
    """Return whether each option of a choice probe has state values, and no two options have the same ones."""
    return not _is_valid_choice(probe) or len(set(probe.variants)) == len(probe.variants) == len(
        probe.options
    )


def _is_valid_choice(probe: Probe) -> bool:
    return probe.kind == "choice" and bool(probe.variables) and probe.reason is None
