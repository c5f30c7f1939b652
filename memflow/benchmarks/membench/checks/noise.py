"""What must hold of MemBench's trajectories with noise among their messages, as data. What must hold of all its rows
is rows.py's.

It blocks: noise that answers or contradicts a question, or that took the place of what a user said, makes every figure
wrong. Only of noise that is published within trajectories we can but warn. The noise of a quarantined trajectory is not
played, and nothing is expected of it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.noise.conflicts import conflict, forbidden, plain
from memflow.benchmarks.membench.turns import is_noise, session_of
from memflow.checks.rules import AcrossTables, EachRow, Expectation, PerDomain, Rule, WholeTable
from memflow.records import Entity, Probe, Turn
from memflow.tokens import estimate

_STAMP = re.compile(r"\((place|time):|（(地点|时间)：")
_STEP = re.compile(r"\.(\d+)[ua]$")

Placed = list[tuple[int, Turn]]


def _contradicting(turns: Sequence[Turn], probes: Sequence[Probe], entities: Sequence[Entity]) -> list[int]:
    """Noise that holds what its trajectory tells or asks for."""
    phrases = forbidden(turns, probes, entities)
    said: dict[str, str] = {}  # Trajectories share their noise.
    found = []
    for at, turn in enumerate(turns):
        if turn.reason is None and is_noise(turn.message_id):
            if turn.text not in said:
                said[turn.text] = plain(turn.text)
            if conflict(said[turn.text], phrases[turn.episode_id]) is not None:
                found.append(at)
    return found


def _unstamped(turn: Turn) -> bool:
    return not (is_noise(turn.message_id) and _STAMP.search(turn.text))


def _parted(domain: Domain, turns: Sequence[Turn]) -> list[int]:
    """Messages of units of noise, and of sessions that are to stay whole, that come back after something else."""
    sessions = parameters_of(domain).noise_between == "sessions"
    found: list[int] = []
    for placed in _by_trajectory(turns):
        seen: set[str] = set()
        for name, held in groupby(placed, key=lambda each: session_of(each[1].message_id)):
            members = list(held)
            if name in seen and (sessions or is_noise(members[0][1].message_id)):
                found.extend(at for at, _ in members)
            seen.add(name)
    return found


def _out_of_order(turns: Sequence[Turn]) -> list[int]:
    """Real messages of neither the step of the real message before nor the step after it: one is lost, or moved."""
    found = []
    for placed in _by_trajectory(turns):
        last = -1
        for at, turn in placed:
            if is_noise(turn.message_id):
                continue
            match = _STEP.search(turn.message_id)
            step = int(match[1]) if match else -1
            if step not in (last, last + 1) or step < 0:
                found.append(at)
            last = step
    return found


def _too_short(domain: Domain, turns: Sequence[Turn]) -> list[int]:
    """The last messages of trajectories that are shorter than noise should make them."""
    wanted = parameters_of(domain).noise_tokens
    found = []
    for placed in _by_trajectory(turns):
        played = [turn for _, turn in placed if turn.reason is None]
        if played and sum(estimate(turn.text) for turn in played) < wanted:
            found.append(placed[-1][0])
    return found


def _by_trajectory(turns: Sequence[Turn]) -> Iterator[Placed]:
    """The messages of each trajectory as they are said, with their positions in the table."""
    held: dict[str, Placed] = defaultdict(list)
    for at, turn in enumerate(turns):
        held[turn.episode_id].append((at, turn))
    for placed in held.values():
        yield sorted(placed, key=lambda each: (each[1].event, each[1].position))


def _where_woven(rule: Callable[[Domain], Rule]) -> PerDomain:
    """A rule of domains that are brought to a length with noise."""
    return PerDomain(lambda domain: rule(domain) if parameters_of(domain).noise_tokens > 0 else None)


def _where_published(rule: Rule) -> PerDomain:
    """A rule of the other domains, whose noise, if they have any, is as published."""
    return PerDomain(lambda domain: rule if parameters_of(domain).noise_tokens == 0 else None)


def _turns(find_violations: Callable[[Domain, Sequence[Turn]], Collection[int]]) -> PerDomain:
    return _where_woven(lambda domain: WholeTable(lambda turns: find_violations(domain, turns)))


_CONTRADICTION = AcrossTables(("utterance.turns", "question.probes", "state.entities"), _contradicting)

EXPECTED: tuple[Expectation, ...] = (
    Expectation(
        "utterance.turns", "noise_says_no_time_and_no_place", _where_woven(lambda domain: EachRow(_unstamped))
    ),
    Expectation("utterance.turns", "units_of_noise_and_sessions_stay_whole", _turns(_parted)),
    Expectation(
        "utterance.turns",
        "real_messages_are_all_there_in_their_order",
        _turns(lambda domain, turns: _out_of_order(turns)),
    ),
    Expectation("utterance.turns", "trajectories_are_as_long_as_set", _turns(_too_short)),
    Expectation(
        "question.probes",
        "noise_holds_nothing_that_is_told_or_asked",
        _where_woven(lambda domain: _CONTRADICTION),
    ),
    Expectation(
        "question.probes",
        "published_noise_holds_nothing_that_is_told_or_asked",
        _where_published(_CONTRADICTION),
        "warn",
    ),
)
"""MemBench's own expectations of noise."""
