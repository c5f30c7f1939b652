"""Checks of noise, the unrelated messages that extend a trajectory: noise that contradicts a question spoils its score.

Noise that memflow added blocks; conflicts in published noise are warnings. Quarantined messages are not checked.
"""

from collections.abc import Sequence

from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.noise.conflicts import find_conflict, forbidden_phrases, normalize
from memflow.benchmarks.membench.turns import is_noise
from memflow.checks.rules import AcrossTables, Expectation, PerDomain, Rule
from memflow.records import Entity, Probe, Turn


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


def _if_noise(rule: Rule, *, added: bool) -> PerDomain:
    """Return a rule that applies only to domains that add noise, or only to those that add none."""
    return PerDomain(lambda domain: rule if (parameters_of(domain).noise_tokens > 0) is added else None)


_CONTRADICTION = AcrossTables(("utterance.turns", "question.probes", "state.entities"), _find_conflicts)

EXPECTED: tuple[Expectation, ...] = (
    Expectation(
        "question.probes", "inserted_noise_contains_no_answer", _if_noise(_CONTRADICTION, added=True)
    ),
    Expectation(
        "question.probes",
        "published_noise_contains_no_answer",
        _if_noise(_CONTRADICTION, added=False),
        "warn",
    ),
)
"""Checks of noise."""
