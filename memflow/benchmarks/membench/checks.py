"""Blocking checks of generated questions and of inserted noise. `memflow/checks` has the checks of all benchmarks.

The readers quarantine published questions whose options, gold or evidence are invalid (published/questions.py). What
code alone determines, such as user graphs, times and options, is tested in the test suite.
"""

from collections import Counter
from collections.abc import Sequence

from memflow.benchmarks.membench.config import generated, parameters_of
from memflow.benchmarks.membench.examination.examiner import examine
from memflow.benchmarks.membench.noise.conflicts import find_conflict, forbidden_phrases, normalize
from memflow.benchmarks.membench.turns import is_noise
from memflow.checks.rules import AcrossTables, Findings, PerDomain, add_descriptions, expect
from memflow.records import Entity, Probe, Turn

NAMED_REASONS = 3
"""Maximum number of reasons for missing examinations that the note of the check names."""


def find_wrong_golds(probes: Sequence[Probe], turns: Sequence[Turn]) -> Findings:
    """Return the probes with a wrong gold, several right options or insufficient evidence, each with the reason."""
    outcomes = [
        (at, each)
        for at, (probe, each) in enumerate(zip(probes, examine(probes, turns), strict=True))
        if probe.reason is None
    ]
    found = Findings({at: each.reason for at, each in outcomes if each.outcome == "wrong"})
    unread = Counter(each.reason for _, each in outcomes if each.outcome == "not examined")
    missing = unread.total()
    share = f" ({missing / len(outcomes):.1%})" if missing else ""
    reasons = "".join(f"; {count} because {reason}" for reason, count in unread.most_common(NAMED_REASONS))
    found.note = f"{len(outcomes) - missing} of {len(outcomes)} probes examined, {missing} not examined{share}{reasons}"
    return found


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


_GOLDS = AcrossTables(("question.probes", "utterance.turns"), find_wrong_golds)
_NOISE = AcrossTables(("utterance.turns", "question.probes", "state.entities"), _find_conflicts)
EXPECTED = add_descriptions(
    expect(
        "question.probes",
        {
            "gold_equals_answer_recomputed_from_messages": PerDomain(
                lambda domain: _GOLDS if generated(domain) else None
            ),
            "inserted_noise_contains_no_answer": PerDomain(
                lambda domain: _NOISE if parameters_of(domain).noise_tokens else None
            ),
        },
    ),
    "memflow.benchmarks.membench",
)
"""All checks of MemBench."""
