"""Replies and their verdicts -> where each answer's evidence was lost, for every memory and every benchmark.

Evidence is held where a live entry came from it, and recalled where a recalled entry did: by the entries' sources,
so a memory that wrote an entry from a message and left out what mattered counts as holding it. Entries that sum up
everything are passed over, since they came from every message (Memory.broad). AMemGym's own rule,
by what the assistant can say of its user's state, stands beside it (benchmarks/amemgym/scores.py). What the rows add
up to is board.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memflow.errors import BadInput
from memflow.memories.entries import Item
from memflow.memories.systems import System
from memflow.metrics.diagnosis import attribute_by_evidence
from memflow.metrics.ranges import share
from memflow.records import Entry, FailureAttribution, Probe, Reply, TranscriptMessage, Verdict
from memflow.run.answer import Past
from memflow.run.transcripts import pasts_of

NO_EVIDENCE = "no evidence is named for this probe, or none of it had been said by then"
"""The reason of probes that no memory is measured on: they count in no coverage."""


def attribute(
    domain: str,
    assistant: str,
    system: System,
    *,
    said: Sequence[TranscriptMessage],
    entries: Sequence[Entry],
    probes: Sequence[Probe],
    replies: Sequence[Reply],
    verdicts: Sequence[Verdict],
) -> list[FailureAttribution]:
    """A row for each probe that has a verdict under its own metric, in the order of `probes`.

    State probes are AMemGym's means of diagnosis, and are not diagnosed themselves.
    """
    telling = [entry for entry in entries if entry.kind not in system.kinds_without_evidence]
    life = _Life(system, pasts_of(entries, said, probes), _given(said), _sources(telling))
    replied = {reply.probe_id: reply for reply in replies}
    judged = {(row.probe_id, row.metric): row for row in verdicts if row.variant == "standard"}
    return [
        _diagnosed(domain, assistant, probe, replied.get(probe.probe_id), verdict, life)
        for probe in probes
        if probe.kind != "state" and (verdict := judged.get((probe.probe_id, probe.metric))) is not None
    ]


@dataclass(frozen=True)
class _Life:
    """What an assistant's memory lived through: who held what, and when."""

    system: System
    pasts: Mapping[str, Past]
    given: Mapping[str, int]
    sources: Mapping[tuple[str, str], frozenset[str]]
    _lives: dict[str, dict[str, list[Item]]] = field(default_factory=dict)

    def evidence(self, probe: Probe) -> frozenset[str]:
        """The probe's evidence that had been given to the memory when it was asked. Raises BadInput where it is asked
        after a message that was not played."""
        past = self.pasts.get(probe.episode_id)
        asked_at = 0 if past is None else past.sequence(probe)
        return frozenset(
            message for message in probe.evidence if self.given.get(message, asked_at) < asked_at
        )

    def held(self, probe: Probe, messages: Iterable[str]) -> frozenset[str]:
        """Those of the messages that live entries came from when the probe was asked."""
        past = self.pasts[probe.episode_id]
        if probe.episode_id not in self._lives:
            self._lives[probe.episode_id] = self._from(past)
        entries, sequence = self._lives[probe.episode_id], past.sequence(probe)
        return frozenset(
            message for message in messages if any(item.alive(sequence) for item in entries.get(message, ()))
        )

    def _from(self, past: Past) -> dict[str, list[Item]]:
        """The entries that came from each message."""
        found: dict[str, list[Item]] = {}
        for item in past.items:
            if item.kind not in self.system.kinds_without_evidence:
                for source in item.sources:
                    found.setdefault(source, []).append(item)
        return found


def _diagnosed(
    domain: str, assistant: str, probe: Probe, reply: Reply | None, verdict: Verdict, life: _Life
) -> FailureAttribution:
    row = FailureAttribution(
        domain=domain,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        category=probe.category,
        evidence=0,
    )
    if not life.system.recalls_entries:
        return replace(row, reason=f"{life.system.name} recalls nothing: there is no evidence to follow")
    try:
        evidence = life.evidence(probe)
    except BadInput as wrong:
        return replace(row, reason=str(wrong))
    if not evidence:
        return replace(row, reason=NO_EVIDENCE)
    row = replace(row, evidence=len(evidence))
    if reply is None or reply.model is None:
        return replace(row, reason=(reply and reply.reason) or "the probe was not asked")
    sources = [life.sources.get((probe.episode_id, entry), frozenset()) for entry in reply.recalled]
    held, recalled = life.held(probe, evidence), evidence & frozenset().union(*sources)
    best = [life.sources.get((probe.episode_id, entry), frozenset()) for entry in reply.ranked]
    row = replace(
        row,
        stored=len(held),
        recalled=len(recalled),
        recalled_at_10=len(evidence & frozenset().union(*best)) if life.system.ranks_entries else None,
        entries=len(sources),
        relevant=sum(not evidence.isdisjoint(each) for each in sources),
    )
    if verdict.value is None:
        return replace(row, reason=verdict.reason)
    loss = 1 - share(verdict.metric, verdict.value)
    shares = attribute_by_evidence(evidence, held, recalled, loss)
    return replace(row, loss=loss, write=shares.write, read=shares.read, utilization=shares.utilization)


def _given(said: Sequence[TranscriptMessage]) -> dict[str, int]:
    """The sequence number of every message that a memory was given, those of a base episode among them."""
    return {line.message_id: line.sequence for line in said if line.reason is None}


def _sources(entries: Sequence[Entry]) -> dict[tuple[str, str], frozenset[str]]:
    return {(entry.episode_id, entry.entry_id): frozenset(entry.sources) for entry in entries}
