"""What a played episode shows about its memory: messages, entries and reads, reduced to what the measures need.

Texts are reduced to their properties, so that a domain of many episodes fits into memory. episodes.py reads them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memflow.memories.design import Design
from memflow.memories.server.protocol import Capabilities
from memflow.records import FailureAttribution
from memflow.scoring.health.texts import TextProperties


@dataclass(frozen=True, slots=True)
class GivenMessage:
    """A message that the memory received. `position` counts messages of its episode from 1, `session` events from 0.

    `losses` are what the entries of this message lack of its text (texts.py), of the losses `at_risk`; None if no entry
    has its text.
    """

    message_id: str
    role: str
    sequence: int
    position: int
    session: int
    text: TextProperties
    repeats: bool
    """Its words are those of an earlier message of the episode."""
    stored: bool
    failed: bool
    live_at_end: bool
    """An entry is from it at the end, or was until the user took it back."""
    losses: frozenset[str] | None
    at_risk: frozenset[str]
    seconds: float | None
    """Seconds of the write that ended with this message."""


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry with remembered content. `item_id` is the id that a memory server gave it."""

    entry_id: str
    kind: str
    since: int
    until: int | None
    sources: tuple[str, ...]
    item_id: str | None
    foreign: bool
    """It came from a message of another episode."""
    future: bool
    """It came from a message that was given after it was written."""


@dataclass(frozen=True, slots=True)
class ProbeRead:
    """A read for a probe, `sequence` messages after the start of the episode.

    `live` counts the current entries by kind, `returned` the recalled ones. `slope` is how many more words of
    the query the first half of the items has than the second half; None where their order shows nothing. `labels` are
    the probe's language, category, kind and data set by name. `failure` is the reason of a failed read, otherwise None.
    `recalled` are ids of entries, `evidence` ids of messages. It is `empty` if the memory returned nothing.
    """

    probe_id: str
    episode_id: str
    sequence: int
    query: str
    text: TextProperties
    labels: Mapping[str, str]
    live: Mapping[str, int]
    returned: Mapping[str, int]
    recalled: tuple[str, ...]
    failure: str | None
    cut_by_budget: bool
    empty: bool
    slope: float | None
    attribution: FailureAttribution | None
    evidence: tuple[str, ...]
    lag: int | None
    """Messages since the newest evidence; None if no evidence was given before."""
    seconds: float | None


@dataclass(frozen=True, eq=False)
class EpisodeObservation:
    """The messages, entries and reads of an episode, and what a memory server declares, if the memory is one."""

    episode_id: str
    messages: Sequence[GivenMessage]
    entries: Mapping[str, StoredEntry]
    reads: Sequence[ProbeRead]
    write_failures: Sequence[str] = ()
    """Reasons of failed writes of messages."""
    export_failures: Sequence[str] = ()
    """Failures of a memory server that concern no message."""
    server: Capabilities | None = None

    @property
    def hides_items(self) -> bool:
        """Whether the memory is a server that does not export its items: entries are only what reads returned."""
        return self.server is not None and self.server.export == "none"


@dataclass(frozen=True)
class MemoryTraits:
    """What is known of a memory beside its rows: its design, the items that a read asks for, and whether it searches.

    `k` is None where the memory has no such parameter, and 0 where it asks for all.
    """

    name: str
    design: Design
    k: int | None = None
    ranks: bool = True
