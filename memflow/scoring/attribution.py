"""Failure attribution by evidence, for every memory: at which stage the evidence messages of an answer were lost.

A message is stored if it is a source of an entry that is not retired, and recalled if it is a source of a recalled
entry. Global summary entries are ignored, since their sources are all messages. evidence.py computes the scores.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memflow.errors import BadInput
from memflow.memories.entries import Item
from memflow.memories.server.capabilities import NO_EXPORT, NO_SOURCES, declared_capabilities, is_server
from memflow.memories.server.mirror import SERVER
from memflow.memories.server.protocol import Capabilities
from memflow.memories.systems import System
from memflow.metrics.diagnosis import attribute_by_evidence
from memflow.records import UNASKED, Entry, FailureAttribution, Probe, Reply, TranscriptMessage, Verdict
from memflow.run.answer import EpisodeHistory
from memflow.run.transcripts import episode_histories
from memflow.scoring.catalog import find_metric

NO_EVIDENCE = "no evidence is named for this probe, or none of it had been said by then"
"""The reason of probes that are attributed for no memory: they count in no coverage."""


def attribute(
    domain: str,
    assistant: str,
    system: System,
    *,
    sequence_by_message: Mapping[str, int],
    transcript: Iterable[TranscriptMessage],
    entries: Sequence[Entry],
    probes: Iterable[Probe],
    replies: Iterable[Reply],
    verdicts: Iterable[Verdict],
) -> list[FailureAttribution]:
    """Return the failure attribution of each scored probe (with a verdict under its metric), in the order of `probes`.

    Probes of states, and those that ask no answer, are skipped. `sequence_by_message` has the `sequence_numbers` of all
    episodes; the other rows are those of the episodes of `probes`.
    """
    unattributed = UNASKED | {"state"}
    scorable_probes = {probe.probe_id: probe for probe in probes if probe.kind not in unattributed}
    evidence_entries = [entry for entry in entries if entry.kind not in system.kinds_without_evidence]
    timeline = _MemoryTimeline(
        system,
        episode_histories(entries, transcript, scorable_probes.values()),
        sequence_by_message,
        _sources(evidence_entries),
        _servers(entries) if is_server(system.memory) else {},
    )
    replies_by_probe = {reply.probe_id: reply for reply in replies if reply.probe_id in scorable_probes}
    metrics = {probe_id: probe.metric for probe_id, probe in scorable_probes.items()}
    verdicts_by_probe = {
        row.probe_id: row
        for row in verdicts
        if row.variant == "standard" and metrics.get(row.probe_id) == row.metric
    }
    return [
        _attribute_probe(
            domain, assistant, probe, replies_by_probe.get(probe_id), verdicts_by_probe[probe_id], timeline
        )
        for probe_id, probe in scorable_probes.items()
        if probe_id in verdicts_by_probe
    ]


@dataclass(frozen=True)
class _MemoryTimeline:
    """The messages that an assistant's memory received and the entries that it stored, by time and episode."""

    system: System
    histories: Mapping[str, EpisodeHistory]
    sequence_by_message: Mapping[str, int]
    sources: Mapping[tuple[str, str], frozenset[str]]
    servers: Mapping[str, Capabilities] = field(default_factory=dict)
    """The capabilities of the memory server that each episode was played with, if any."""
    _by_message: dict[str, dict[str, list[Item]]] = field(default_factory=dict)

    def evidence(self, probe: Probe) -> frozenset[str]:
        """Return the evidence messages of a probe that the memory received before the probe was asked.

        Raises BadInput if the probe follows a message that was not played.
        """
        history = self.histories.get(probe.episode_id)
        asked_at = 0 if history is None else history.sequence(probe)
        return received_evidence(probe, asked_at, self.sequence_by_message)

    def stored(self, probe: Probe, messages: Iterable[str]) -> frozenset[str]:
        """Return the `messages` that are sources of an entry that was not retired when the probe was asked."""
        history = self.histories[probe.episode_id]
        if probe.episode_id not in self._by_message:
            self._by_message[probe.episode_id] = self._from(history)
        entries, sequence = self._by_message[probe.episode_id], history.sequence(probe)
        return frozenset(
            message for message in messages if any(item.alive(sequence) for item in entries.get(message, ()))
        )

    def _from(self, history: EpisodeHistory) -> dict[str, list[Item]]:
        """Return the entries of an episode by source message, without global summary entries."""
        items_by_source: dict[str, list[Item]] = {}
        for item in history.items:
            if item.kind not in self.system.kinds_without_evidence:
                for source in item.sources:
                    items_by_source.setdefault(source, []).append(item)
        return items_by_source


def _attribute_probe(
    domain: str,
    assistant: str,
    probe: Probe,
    reply: Reply | None,
    verdict: Verdict,
    timeline: _MemoryTimeline,
) -> FailureAttribution:
    """Return the failure attribution of a probe, or its row with the reason why none is possible."""
    row = FailureAttribution(
        domain=domain,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        category=probe.category,
        evidence=0,
    )
    if not timeline.system.memory.recalls_entries:
        return replace(
            row, reason=f"{timeline.system.name} recalls nothing, so there is no evidence to follow"
        )
    try:
        evidence = timeline.evidence(probe)
    except BadInput as error:
        return replace(row, reason=str(error))
    if not evidence:
        return replace(row, reason=NO_EVIDENCE)
    return _attribute_reply(replace(row, evidence=len(evidence)), evidence, probe, reply, verdict, timeline)


def _attribute_reply(
    row: FailureAttribution,
    evidence: frozenset[str],
    probe: Probe,
    reply: Reply | None,
    verdict: Verdict,
    timeline: _MemoryTimeline,
) -> FailureAttribution:
    """Follow the evidence through the entries and the recall of a reply, and share its loss among the failures."""
    server = timeline.servers.get(probe.episode_id)
    if server is not None and server.sources == "none":
        return replace(row, reason=NO_SOURCES)
    if reply is None or reply.model is None:
        return replace(row, reason=(reply and reply.reason) or "the probe has no reply")
    sources = [timeline.sources.get((probe.episode_id, entry), frozenset()) for entry in reply.recalled]
    if server is not None and server.export == "none":
        return _without_export(row, evidence, reply, sources, server)
    stored_evidence = timeline.stored(probe, evidence)
    recalled_evidence = evidence & frozenset().union(*sources)
    ranked_sources = [timeline.sources.get((probe.episode_id, entry), frozenset()) for entry in reply.ranked]
    is_ranked = timeline.system.memory.ranks_entries and (server is None or server.ranked)
    row = replace(
        row,
        stored=len(stored_evidence),
        recalled=len(recalled_evidence),
        recalled_at_10=len(evidence & frozenset().union(*ranked_sources)) if is_ranked else None,
        entries=len(sources),
        relevant=sum(not evidence.isdisjoint(entry_sources) for entry_sources in sources),
    )
    if verdict.value is None:
        return replace(row, reason=verdict.reason)
    loss = 1 - find_metric(verdict.metric).share(verdict.value)
    shares = attribute_by_evidence(evidence, stored_evidence, recalled_evidence, loss)
    return replace(row, loss=loss, write=shares.write, read=shares.read, utilization=shares.utilization)


def _without_export(
    row: FailureAttribution,
    evidence: frozenset[str],
    reply: Reply,
    sources: Sequence[frozenset[str]],
    server: Capabilities,
) -> FailureAttribution:
    """Return the row of a memory server that does not export: what was recalled is known, what was stored is not."""
    row = replace(
        row,
        recalled=len(evidence.intersection(reply.recalled_sources)),
        entries=len(sources),
        reason=NO_EXPORT,
    )
    if not all(sources):
        return row  # items without entries
    ranked_sources = frozenset().union(*sources[: len(reply.ranked)])
    return replace(
        row,
        recalled_at_10=len(evidence & ranked_sources) if server.ranked else None,
        relevant=sum(not evidence.isdisjoint(entry_sources) for entry_sources in sources),
    )


def _servers(entries: Sequence[Entry]) -> dict[str, Capabilities]:
    """Return the capabilities that the memory server declared, by episode; episodes without a server are missing."""
    capabilities = {}
    for entry in entries:
        if entry.kind == SERVER and (
            server_capabilities := declared_capabilities(entry.kind, json.loads(entry.meta))
        ):
            capabilities[entry.episode_id] = server_capabilities
    return capabilities


def sequence_numbers(transcript: Iterable[TranscriptMessage]) -> dict[str, int]:
    """Return the sequence numbers of messages that the memory received, also of a base episode, by message id."""
    return {line.message_id: line.sequence for line in transcript if line.reason is None}


def received_evidence(probe: Probe, asked_at: int, sequence_by_message: Mapping[str, int]) -> frozenset[str]:
    """Return the probe's evidence messages that the memory received with a sequence number below `asked_at`."""
    return frozenset(
        message for message in probe.evidence if sequence_by_message.get(message, asked_at) < asked_at
    )


def _sources(entries: Sequence[Entry]) -> dict[tuple[str, str], frozenset[str]]:
    """Return the source messages of each entry, by (episode id, entry id)."""
    return {(entry.episode_id, entry.entry_id): frozenset(entry.sources) for entry in entries}
