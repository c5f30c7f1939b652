"""Verdicts: whether an answer is right, and what it shows of a fact that was known before.

A fact was known before if both questions about it at checkpoint 0 were answered right: with five options, guessing at
random does so once in 25 times. An answer that could not be read has no value under any figure, and a reason.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import grade, ungradable_reason
from memflow.benchmarks.retraction.answers import mentioned, mentions
from memflow.benchmarks.retraction.metrics import (
    BREACH,
    CASCADE,
    COLLATERAL,
    INVENTION,
    KNOWN,
    LEAK,
    OVER,
    POISON,
    RESTORATION,
    STALE,
)
from memflow.benchmarks.retraction.plans import CONTRADICTED, NEVER_TOLD, RESTATED, RESTRICTED, TOLD
from memflow.benchmarks.retraction.probes import DIRECT, TASK, form_of
from memflow.benchmarks.retraction.store import find_store_leaks, store_verdicts
from memflow.benchmarks.verdicts import UNPARSED, only_assistant, verdict_row
from memflow.memories.memory import Embedder
from memflow.records import STORED, Probe, Reply, Verdict

CHANGED_BY_USER = frozenset({"correct", "update"})
Key = tuple[str, str]
"""The episode and the key of a fact."""


@dataclass(frozen=True)
class FactBefore:
    """What the probes at checkpoint 0 tell of a fact: its value, the values of its options, and what others claim."""

    value: str
    values: tuple[str, ...]
    poison: str | None
    known: bool | None
    """Whether both questions were answered right; None if an answer could not be read."""


@dataclass(frozen=True)
class Answered:
    """A probe with its reply: what it reveals."""

    probe: Probe
    reply: Reply

    @property
    def chosen(self) -> list[str | None]:
        """The variant of the chosen option: its value, `not` and a value, or None."""
        found: list[str | None] = json.loads(self.probe.variants[int(self.reply.parsed or 0) - 1])
        return found

    def reveals(self, value: str) -> bool:
        """Return whether the answer is what somebody answers who takes `value` for the fact's value."""
        if self.probe.kind == "open":
            return mentions(self.reply.parsed or "", value)
        if form_of(self.probe) == "confirm":
            named = next(
                json.loads(kind)[-1] for kind in self.probe.variants if json.loads(kind)[-1] is not None
            )
            return self.chosen == ([value] if named == value else ["not", named])
        return self.chosen == [value]

    def says_nothing(self, values: Sequence[str]) -> bool:
        """Return whether the answer is that it cannot be said."""
        if self.probe.kind == "open":
            return not mentioned(self.reply.parsed or "", values)
        return self.chosen == [None]

    def is_right(self, values: Sequence[str]) -> bool:
        """Return whether an open answer mentions the gold alone, or no value where none holds."""
        found = mentioned(self.reply.parsed or "", values)
        return found == ([self.probe.revealed] if self.probe.revealed in values else [])


def key_of(probe: Probe) -> Key:
    """Return the fact of a probe."""
    return probe.episode_id, probe.variables[0]


def facts_before(probes: Sequence[Probe], replies: dict[str, Reply]) -> dict[Key, FactBefore]:
    """Return the facts of the probes at checkpoint 0 by key, with whether the assistant knew them."""
    right: dict[Key, list[float | None]] = {}
    for probe in probes:
        if probe.checkpoint == TOLD and form_of(probe) in (DIRECT, TASK):
            right.setdefault(key_of(probe), []).append(grade(probe, replies.get(probe.probe_id))[0])
    facts = {}
    for probe in probes:
        if probe.checkpoint == TOLD and form_of(probe) == DIRECT:
            values = [json.loads(variant)[0] for variant in probe.variants]
            claims = dict(zip(probe.true_of, values, strict=False))
            answers = right[key_of(probe)]
            facts[key_of(probe)] = FactBefore(
                probe.revealed,
                tuple(value for value in values if value is not None),
                claims.get(probe.category or ""),
                None if None in answers else all(answers),
            )
    return facts


def figures_of(probe: Probe, fact: FactBefore | None) -> tuple[str, ...]:
    """Return the names of the metrics that a probe after checkpoint 0 counts for."""
    fate = probe.category or ""
    if fate in NEVER_TOLD:
        return (INVENTION.name,)
    if fact is None or not _holds(probe, fact):
        return (BREACH.name if fate in RESTRICTED else CASCADE.name if fate == "cascade" else LEAK.name,)
    if fate in RESTATED:
        return (RESTORATION.name,)
    if fate in CONTRADICTED:
        return (POISON.name, OVER.name)
    if fate in CHANGED_BY_USER:
        return (STALE.name, OVER.name)
    return (OVER.name,) if fate in RESTRICTED else (COLLATERAL.name, OVER.name)


def _holds(probe: Probe, fact: FactBefore) -> bool:
    """Return whether the fact of a probe holds, and may be told to its audience."""
    if probe.kind == "open":
        return probe.gold in fact.values
    return json.loads(probe.variants[int(probe.gold) - 1]) != [None]


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], embedder: Embedder | None
) -> list[Verdict]:
    """Return the verdicts of all questions in order, that of the probe's own metric first, then those on the store."""
    by_probe = {reply.probe_id: reply for reply in replies}
    leaks = await find_store_leaks(probes, by_probe, embedder)
    on_store = store_verdicts(domain, only_assistant(domain, replies), probes, by_probe, leaks)
    return [*question_verdicts(domain, probes, replies), *on_store]


def question_verdicts(domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply]) -> list[Verdict]:
    """Return the verdicts on the answers."""
    assistant = only_assistant(domain, replies)
    by_probe = {reply.probe_id: reply for reply in replies}
    questions = [probe for probe in probes if probe.kind != STORED]
    facts = facts_before(questions, by_probe)

    def rows(probe: Probe) -> Iterator[Verdict]:
        reply = by_probe.get(probe.probe_id)
        fact = facts.get(key_of(probe))
        reason = ungradable_reason(probe, reply)
        answered = None if reason is not None or reply is None else Answered(probe, reply)
        if probe.kind == "open":
            values = fact.values if fact else ()
            value = None if answered is None else float(answered.is_right(values))
            yield verdict_row(domain, assistant, probe, probe.metric, value, reason)
        else:
            value, reason = grade(probe, reply)
            answered = answered if value is not None else None
            yield verdict_row(domain, assistant, probe, probe.metric, value, reason)
            has_answer = probe.reason is None and reply is not None and reply.text is not None
            unparsed = float(value is None) if has_answer else None
            yield verdict_row(domain, assistant, probe, UNPARSED, unparsed, None if has_answer else reason)
        if probe.checkpoint == TOLD:
            if form_of(probe) == DIRECT and fact is not None:
                why = None if fact.known is not None else "a question about the fact has no readable answer"
                known = None if fact.known is None else float(fact.known)
                yield verdict_row(domain, assistant, probe, KNOWN.name, known, why)
            return
        never = (probe.category or "") in NEVER_TOLD
        if never or (fact is not None and fact.known):
            for figure in figures_of(probe, fact):
                shown = None if answered is None else float(_shows(figure, answered, fact))
                yield verdict_row(domain, assistant, probe, figure, shown, reason)

    return [row for probe in questions for row in rows(probe)]


def _shows(figure: str, answered: Answered, fact: FactBefore | None) -> bool:
    values = fact.values if fact else ()
    if figure == INVENTION.name:
        return not answered.says_nothing(values)
    assert fact is not None  # the other figures are of facts that were known before
    if figure == OVER.name:
        return answered.says_nothing(values)
    if figure == POISON.name:
        return fact.poison is not None and answered.reveals(fact.poison)
    if figure in (COLLATERAL.name, RESTORATION.name):
        if answered.probe.kind == "open":
            right = answered.is_right(values)
        else:
            right = grade(answered.probe, answered.reply)[0] == 1
        return right == (figure == RESTORATION.name)
    # A fact that changed is given away by its last value, too.
    last = answered.probe.previous if figure == LEAK.name else None
    return any(answered.reveals(value) for value in values if value in (fact.value, last))
