"""Retrieval verdicts of a memory, from the messages that its recalled entries came from.

The entries of a reply are ranked best first. A turn or session has the rank of the best entry that came from it. What
was not recalled counts as not found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.config import parse_config
from memflow.benchmarks.longmemeval.metrics import (
    ALL_ANSWERABLE,
    GRAINS,
    NAMES,
    TURN_TO_SESSION,
    retrieval_metric,
)
from memflow.benchmarks.longmemeval.retrieval import (
    RetrievalValues,
    evaluate,
    evaluate_sessions,
)
from memflow.benchmarks.longmemeval.types import is_abstention
from memflow.benchmarks.verdicts import only_assistant, verdict_row
from memflow.memories.baselines import Nothing
from memflow.memories.systems import SYSTEMS
from memflow.records import Probe, Reply, Verdict

STANDARD = "standard"
_RECALL_NOTHING = {name for name, system in SYSTEMS.items() if issubclass(system.memory, Nothing)}


def session_of(message_id: str) -> str:
    """Return the session in a message id."""
    return message_id.rpartition("/")[0]


def is_user(message_id: str) -> bool:
    """Return whether the user sent a message."""
    return message_id.endswith("u")


@dataclass(frozen=True)
class _Ranking:
    """The recalled and the relevant turns of a probe, best first, as message ids."""

    turns: Sequence[str]
    relevant: Sequence[str]

    def turn_values(self, k: int) -> RetrievalValues:
        return evaluate(self.turns, self.relevant, len(self.relevant), k)

    def session_values(self, k: int) -> RetrievalValues:
        sessions, relevant = self._sessions()
        return evaluate(sessions, relevant, len(relevant), k)

    def turn_to_session_values(self, k: int) -> RetrievalValues:
        names = {turn: self._renamed(turn) for turn in (*self.turns, *self.relevant)}
        return evaluate_sessions(self.turns, names, self.relevant, len(self.relevant), k)

    def _sessions(self) -> tuple[list[str], set[str]]:
        ranked = list(dict.fromkeys(map(session_of, self.turns)))
        return ranked, {session_of(turn) for turn in self.relevant}

    def _renamed(self, turn: str) -> str:
        """Return the session of a turn; the unmarked turns of an evidence session are a session, as published."""
        session = session_of(turn)
        if turn in self.relevant:
            return session
        return f"{session} unmarked" if session in self._sessions()[1] else session


def retrieval_verdicts(domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply]) -> list[Verdict]:
    """Return the retrieval verdicts of all questions with an answer.

    There are none for a memory that recalls nothing or does not rank, such as `full`. There are none at turn grain for
    a memory whose entries cover several turns.
    """
    assistant = only_assistant(domain, replies)
    if assistant.partition("@")[0] in _RECALL_NOTHING or not any(reply.ranked for reply in replies):
        return []
    given = {reply.probe_id: reply for reply in replies}
    asked = [probe for probe in probes if not is_abstention(probe.probe_id) and probe.reason is None]
    cutoffs = parse_config(domain).retrieval_k
    grains = GRAINS if all(map(ranks_turns, replies)) else GRAINS[:1]
    return [
        verdict_row(domain, assistant, probe, metric, value, reason, variant=variant)
        for probe in asked
        for metric, variant, value, reason in _values(probe, given.get(probe.probe_id), cutoffs, grains)
    ]


def ranks_turns(reply: Reply) -> bool:
    """Return whether the recalled entries can each be of one turn: they are not fewer than the turns of the user."""
    return sum(map(is_user, reply.recalled_sources)) <= len(reply.recalled)


_Value = tuple[str, str, float | None, str | None]


def _values(
    probe: Probe, reply: Reply | None, cutoffs: Sequence[int], grains: Sequence[str]
) -> Iterator[_Value]:
    """Yield (metric, variant, value, reason) of a probe. Probes without relevant turns have no standard variant."""
    sources = [] if reply is None else reply.recalled_sources
    relevant = [each for each in probe.evidence if is_user(each)]
    reason = None
    if reply is None or reply.model is None:
        reason = (reply and reply.reason) or "the probe has no reply"
    published = _Ranking([each for each in sources if is_user(each)], relevant)
    variants = (ALL_ANSWERABLE, STANDARD) if relevant else (ALL_ANSWERABLE,)
    for k in cutoffs:
        for grain in grains:
            values = published.turn_values(k) if grain == "turn" else published.session_values(k)
            for variant in variants:
                yield from _rows(grain, variant, k, values, reason)
        if relevant and "turn" in grains:
            yield from _rows("session", TURN_TO_SESSION, k, published.turn_to_session_values(k), reason)


def _rows(grain: str, variant: str, k: int, values: RetrievalValues, reason: str | None) -> Iterator[_Value]:
    for name in NAMES:
        value = None if reason else getattr(values, name)
        yield retrieval_metric(grain, name, k), variant, value, reason
