"""What a played episode shows about its memory: messages, entries and reads, reduced to what the measures need.

Texts are reduced to their properties, so that a domain of many episodes fits into memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memflow.memories.entries import Item
from memflow.memories.memory import FAILURE
from memflow.memories.server.evidence import declared_capabilities
from memflow.memories.server.protocol import Capabilities
from memflow.memories.systems import System
from memflow.records import QUARANTINED_PROBE, FailureAttribution, Probe, Reply, TranscriptMessage
from memflow.run.answer import EpisodeHistory


@dataclass(frozen=True, slots=True)
class GivenMessage:
    """A message that the memory received. `position` counts the messages of its episode from 1."""

    message_id: str
    role: str
    sequence: int
    position: int


@dataclass(frozen=True, slots=True)
class ProbeRead:
    """A read for a probe, `sequence` messages after the start, when `live` entries with content were current."""

    probe_id: str
    sequence: int
    live: int
    recalled: tuple[str, ...]
    failure: str | None
    empty: bool
    attribution: FailureAttribution | None


@dataclass(frozen=True)
class EpisodeObservation:
    """The messages, entries, failures and reads of an episode.

    `entries` are those with remembered content. `failures` are the source messages of each failed write. `server` is
    what the memory server declares, if the memory is one.
    """

    episode_id: str
    messages: Sequence[GivenMessage]
    entries: Sequence[Item]
    failures: Sequence[Sequence[str]]
    reads: Sequence[ProbeRead]
    server: Capabilities | None = None
    live_at: dict[int, int] = field(default_factory=dict)


def observe(
    system: System,
    episode_id: str,
    past: EpisodeHistory,
    messages: Iterable[TranscriptMessage],
    probes: Iterable[Probe],
    replies: Mapping[str, Reply],
    attributions: Mapping[str, FailureAttribution],
) -> EpisodeObservation:
    """Return the observation of one episode."""
    given = [line for line in messages if line.reason is None]
    entries = [item for item in past.items if item.kind not in system.memory.bookkeeping_kinds]
    capabilities = (declared_capabilities(item.kind, item.meta) for item in past.items)
    reads = []
    for probe in probes:
        reply = replies.get(probe.probe_id)
        if reply is None or (reply.reason or "").startswith(QUARANTINED_PROBE):
            continue
        sequence = past.sequence(probe)
        reads.append(
            ProbeRead(
                probe_id=probe.probe_id,
                sequence=sequence,
                live=sum(item.alive(sequence) for item in entries),
                recalled=tuple(reply.recalled),
                failure=reply.reason if reply.prompt is None and not reply.text else None,
                empty=not (reply.recalled or reply.injected_tokens or reply.dropped_tokens),
                attribution=attributions.get(probe.probe_id),
            )
        )
    return EpisodeObservation(
        episode_id,
        [
            GivenMessage(line.message_id, line.role, line.sequence, number)
            for number, line in enumerate(given, 1)
        ],
        entries,
        [item.sources for item in past.items if item.kind == FAILURE],
        reads,
        next((can for can in capabilities if can is not None), None),
    )
