"""The check of noise, the unrelated messages that extend a trajectory: it must not contradict a question.

The options of generated questions are not known when noise is inserted. Quarantined messages are not checked.
"""

from collections.abc import Sequence

from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.noise.conflicts import find_conflict, forbidden_phrases, normalize
from memflow.benchmarks.membench.turns import is_noise
from memflow.checks.rules import AcrossTables, PerDomain, expect
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


_CONTRADICTION = AcrossTables(("utterance.turns", "question.probes", "state.entities"), _find_conflicts)

EXPECTED = expect(
    "question.probes",
    {
        "inserted_noise_contains_no_answer": PerDomain(
            lambda domain: _CONTRADICTION if parameters_of(domain).noise_tokens else None
        )
    },
)
"""The check of noise."""
