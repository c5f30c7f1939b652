"""Where the facts behind a wrong answer were lost: not written, not recalled, or recalled and not used.

Evidence names facts and no messages. A fact is written if the judge found it fully in its session's texts, or by the
search for its update. It is recalled if one recalled text has most of its words (COVERED). An answer whose question has
no evidence, as its gold is that nothing is known, lost nothing: its error is one of utilization.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from memflow.benchmarks.halumem import names
from memflow.benchmarks.halumem.judging import texts_of, written_by_session
from memflow.benchmarks.halumem.probes import NOTHING_KNOWN
from memflow.metrics.diagnosis import attribute_by_evidence
from memflow.metrics.stems import stem
from memflow.records import Probe, Reply, Verdict
from memflow.words import search_words

COVERED = 0.5
"""The share of a fact's different words that a text must have to count as this fact.

On 421 recorded verdicts, it finds 77 % of the facts that a judge found whole, and 28 % of those that it did not find.
"""
NO_POINT = "a fact of its evidence is no memory point of an earlier session, or has no verdict"

NO_TEXTS = "the texts that were recalled are not known"


class Shares(NamedTuple):
    """The parts of a wrong answer by the stage that lost its facts; None with the reason."""

    values: tuple[float, float, float] | None
    reason: str | None = None


def stems(text: str) -> frozenset[str]:
    """Return the different stems of a text."""
    return frozenset(stem(word) for word in search_words(text))


def is_covered(fact: str, texts: Iterable[frozenset[str]]) -> bool:
    """Return whether one of the texts, given as stems, has the share COVERED of a fact's words."""
    words = stems(fact)
    return any(len(words & text) >= COVERED * len(words) for text in texts) if words else False


Written = Callable[[Probe, str], bool | None]
"""Returns whether a fact was written up to a question; None if no point with a verdict has its text."""


def written_facts(probes: Sequence[Probe], verdicts: Iterable[Verdict]) -> Written:
    """Return the function that tells by the verdicts on points whether a fact was written."""
    telling = {(names.GRADE, variant) for variant in (names.STANDARD, names.RAW, names.PUBLISHED)}
    telling.add((names.UPDATE["Correct"], names.STANDARD))
    values = {row.probe_id: row.value for row in verdicts if (row.metric, row.variant) in telling}
    points: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    for probe in probes:
        if (value := values.get(probe.probe_id)) is not None:
            points.setdefault((probe.episode_id, _normal(probe.gold)), []).append(
                (probe.checkpoint, value == 1)
            )

    def was_written(probe: Probe, fact: str) -> bool | None:
        found = points.get((probe.episode_id, _normal(fact)), ())
        earlier = [written for at, written in found if at <= probe.checkpoint]
        return any(earlier) if earlier else None

    return was_written


def _normal(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def stages(probe: Probe, recalled: Iterable[str], written: Written) -> Shares:
    """Return the stage at which a wrong answer lost its facts, given the recalled texts."""
    if probe.revealed == NOTHING_KNOWN:
        return Shares((0.0, 0.0, 1.0))
    facts = [*dict.fromkeys(filter(None, probe.revealed.split("\n")))]
    states = {fact: written(probe, fact) for fact in facts}
    texts = [stems(text) for text in recalled]
    there = frozenset(fact for fact in facts if is_covered(fact, texts))
    if any(state is None and fact not in there for fact, state in states.items()):
        return Shares(None, NO_POINT)
    stored = frozenset(fact for fact, state in states.items() if state) | there
    shares = attribute_by_evidence(frozenset(facts), stored, there, 1.0)
    return Shares((shares.write, shares.read, shares.utilization))


Recalled = Callable[[Probe], Sequence[str] | None]
"""Returns the texts that were recalled for a question; None if they are not known."""


def recalled_texts(probes: Sequence[Probe], replies: Sequence[Reply]) -> Recalled:
    """Return a function to the recalled texts, which are among those that the writes of the sessions added."""
    by_probe = {reply.probe_id: reply for reply in replies}
    by_session = written_by_session(probes, by_probe)
    texts: dict[tuple[str, str], str] = {}
    for (episode, _), reply in by_session.items():
        texts |= {(episode, name): text for name, text in zip(reply.recalled, texts_of(reply), strict=False)}

    is_known = any(reply.text for reply in by_session.values())

    def recalled(probe: Probe) -> list[str] | None:
        names = by_probe[probe.probe_id].recalled if probe.probe_id in by_probe else []
        found = [texts[key] for name in names if (key := (probe.episode_id, name)) in texts]
        return found if is_known and (found or not names) else None

    return recalled


def stage_verdicts(
    probes: Sequence[Probe], verdicts: Sequence[Verdict], recalled: Recalled
) -> Iterator[Verdict]:
    """Yield the parts of each answer's loss by stage; 0 for an answer that is correct."""
    written = written_facts(probes, verdicts)
    correct = {
        row.probe_id: row
        for row in verdicts
        if row.metric == names.ANSWER["Correct"] and row.variant == names.STANDARD
    }
    for probe in probes:
        row = correct.get(probe.probe_id)
        if row is None:
            continue
        loss = 1 - (row.value or 0.0)
        shares = Shares(None, row.reason) if row.value is None else Shares((0.0, 0.0, 0.0))
        if row.value is not None and loss:
            texts = recalled(probe)
            shares = Shares(None, NO_TEXTS) if texts is None else stages(probe, texts, written)
        for number, metric in enumerate(names.STAGES):
            value = None if shares.values is None else shares.values[number] * loss
            yield replace(row, metric=metric, value=value, reason=shares.reason, completion=None)
