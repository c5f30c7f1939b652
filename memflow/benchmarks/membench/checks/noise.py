"""Checks of noise: unrelated messages that extend a trajectory. Quarantined trajectories are not checked.

These checks block, because all scores are invalid if noise contradicts a question or replaces messages. Conflicts in
published noise are warnings.
"""

import re
from collections.abc import Callable, Collection, Sequence
from itertools import groupby

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.checks.rows import by_trajectory
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.noise.conflicts import find_conflict, forbidden_phrases, normalize
from memflow.benchmarks.membench.turns import is_noise, session_of
from memflow.checks.rules import AcrossTables, EachRow, Expectation, PerDomain, Rule, WholeTable
from memflow.records import Entity, Probe, Turn
from memflow.tokens import estimate

_STAMP = re.compile(r"\((place|time):|（(地点|时间)：")
_STEP = re.compile(r"\.(\d+)[ua]$")


def _find_conflicts(turns: Sequence[Turn], probes: Sequence[Probe], entities: Sequence[Entity]) -> list[int]:
    """Return the positions of noise messages that contain the gold or an option of a question on their trajectory."""
    phrases = forbidden_phrases(turns, probes, entities)
    normalized: dict[str, str] = {}  # Trajectories share their noise.
    found = []
    for at, turn in enumerate(turns):
        if turn.reason is None and is_noise(turn.message_id):
            if turn.text not in normalized:
                normalized[turn.text] = normalize(turn.text)
            if find_conflict(normalized[turn.text], phrases[turn.episode_id]) is not None:
                found.append(at)
    return found


def _has_no_stamp(turn: Turn) -> bool:
    return not (is_noise(turn.message_id) and _STAMP.search(turn.text))


def _find_split_units(domain: Domain, turns: Sequence[Turn]) -> list[int]:
    """Return the positions of messages in noise units whose messages do not follow each other directly.

    If noise is inserted between sessions, the same applies to sessions.
    """
    sessions = parameters_of(domain).noise_between == "sessions"
    found: list[int] = []
    for trajectory in by_trajectory(turns):
        seen: set[str] = set()
        for name, group in groupby(trajectory, key=lambda each: session_of(each[1].message_id)):
            members = list(group)
            if name in seen and (sessions or is_noise(members[0][1].message_id)):
                found.extend(at for at, _ in members)
            seen.add(name)
    return found


def _find_missing_steps(turns: Sequence[Turn]) -> list[int]:
    """Return the positions of original messages before which an original step is missing or moved."""
    found = []
    for trajectory in by_trajectory(turns):
        last = -1
        for at, turn in trajectory:
            if is_noise(turn.message_id):
                continue
            match = _STEP.search(turn.message_id)
            step = int(match[1]) if match else -1
            if step not in (last, last + 1) or step < 0:
                found.append(at)
            last = step
    return found


def _find_short_trajectories(domain: Domain, turns: Sequence[Turn]) -> list[int]:
    """Return the position of the last message of each trajectory with fewer tokens than `noise_tokens`."""
    wanted = parameters_of(domain).noise_tokens
    found = []
    for trajectory in by_trajectory(turns):
        played = [turn for _, turn in trajectory if turn.reason is None]
        if played and sum(estimate(turn.text) for turn in played) < wanted:
            found.append(trajectory[-1][0])
    return found


def _if_noise_added(rule: Callable[[Domain], Rule]) -> PerDomain:
    """Return a rule that applies only to domains that add noise."""
    return PerDomain(lambda domain: rule(domain) if parameters_of(domain).noise_tokens > 0 else None)


def _if_noise_published(rule: Rule) -> PerDomain:
    """Return a rule that applies only to domains that add no noise."""
    return PerDomain(lambda domain: rule if parameters_of(domain).noise_tokens == 0 else None)


def _turns(find_violations: Callable[[Domain, Sequence[Turn]], Collection[int]]) -> PerDomain:
    return _if_noise_added(lambda domain: WholeTable(lambda turns: find_violations(domain, turns)))


_CONTRADICTION = AcrossTables(("utterance.turns", "question.probes", "state.entities"), _find_conflicts)

_RULES: dict[str, PerDomain] = {
    "noise_messages_have_no_time_and_place_stamp": _if_noise_added(lambda domain: EachRow(_has_no_stamp)),
    "noise_units_and_sessions_are_contiguous": _turns(_find_split_units),
    "original_steps_complete_and_in_order": _turns(lambda domain, turns: _find_missing_steps(turns)),
    "trajectories_reach_configured_token_count": _turns(_find_short_trajectories),
}
_PROBES = "question.probes"

EXPECTED: tuple[Expectation, ...] = (
    *(Expectation("utterance.turns", name, rule) for name, rule in _RULES.items()),
    Expectation(_PROBES, "inserted_noise_contains_no_answer", _if_noise_added(lambda domain: _CONTRADICTION)),
    Expectation(_PROBES, "published_noise_contains_no_answer", _if_noise_published(_CONTRADICTION), "warn"),
)
"""Checks of noise."""
