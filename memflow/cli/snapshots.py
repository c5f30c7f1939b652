"""Snapshots of a memory from the lake's tables: its entries at a checkpoint or probe, and changes between two.

Entries have `since` and `until`, so a snapshot is a filter and needs no replay. memory.py prints snapshots.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memflow.cli.stored_names import check_played
from memflow.errors import BadInput
from memflow.suggestions import MOST_NAMES, unknown_name

if TYPE_CHECKING:
    from memflow.memories.entries import Item
    from memflow.records import Probe
    from memflow.run.answer import EpisodeHistory
    from resources.lake.lake import Lake


@dataclass(frozen=True)
class SnapshotDifference:
    """The entries added, retired and changed between two checkpoints; `changed` has (earlier, later) version pairs."""

    added: Sequence["Item"]
    retired: Sequence["Item"]
    changed: Sequence[tuple["Item", "Item"]]
    passed: Sequence["Item"]
    """Entries written and retired in between: in neither snapshot."""


@dataclass(frozen=True)
class EpisodeSnapshots:
    """All entries and checkpoints of a memory in one episode, from which snapshots are filtered."""

    episode: str
    past: "EpisodeHistory"

    @property
    def checkpoints(self) -> list[int]:
        """The checkpoints of the episode that have a snapshot, in order."""
        return sorted(self.past.checkpoints)

    @property
    def kinds(self) -> list[str]:
        """The kinds of the episode's entries, in the order of first occurrence."""
        return list(dict.fromkeys(item.kind for item in self.past.items))

    def sequence(self, checkpoint: int) -> int:
        """Return the sequence number of a checkpoint. Raises BadInput if the episode did not reach the checkpoint."""
        if checkpoint not in self.past.checkpoints:
            last = self.checkpoints[-1]
            raise BadInput(
                f"episode {self.episode} has no checkpoint {checkpoint}. Use one from 0 to {last}."
            )
        return self.past.checkpoints[checkpoint]

    def at(self, checkpoint: int, kinds: Iterable[str] = ()) -> list["Item"]:
        """Return the entries at a checkpoint, oldest first.

        If `kinds` are given, return only entries of these kinds.
        """
        return self.at_sequence(self.sequence(checkpoint), kinds)

    def at_sequence(self, sequence: int, kinds: Iterable[str] = ()) -> list["Item"]:
        """Return the entries at a sequence number, oldest first, filtered by `kinds` as in `at`."""
        wanted = set(kinds)
        return [
            item for item in self.past.items if item.alive(sequence) and (not wanted or item.kind in wanted)
        ]

    def between(self, first: int, last: int, kinds: Iterable[str] = ()) -> SnapshotDifference:
        """Return the changes from checkpoint `first` to `last`.

        An entry that moved from one kind to another counts for both kinds.
        """
        if first > last:
            raise BadInput(
                f"--diff has the later checkpoint first ({first} and {last}). Write the earlier checkpoint first."
            )
        wanted = set(kinds)
        before = {item.entry_id: item for item in self.at(first)}
        after = {item.entry_id: item for item in self.at(last)}
        changed = []
        for item in after.values():
            origin = None if item.entry_id in before else self._origin(item, before)
            if origin is not None:
                changed.append((origin, item))
        became = {entry.entry_id for pair in changed for entry in pair}
        start, end = self.sequence(first), self.sequence(last)

        def chosen(*items: "Item") -> bool:
            return not wanted or any(item.kind in wanted for item in items)

        return SnapshotDifference(
            [
                item
                for name, item in after.items()
                if name not in before and name not in became and chosen(item)
            ],
            [
                item
                for name, item in before.items()
                if name not in after and name not in became and chosen(item)
            ],
            [pair for pair in changed if chosen(*pair)],
            [
                item
                for item in self.past.items
                if item.since > start and item.until is not None and item.until <= end and chosen(item)
            ],
        )

    def _origin(self, item: "Item", before: dict[str, "Item"]) -> "Item | None":
        """Return the entry in `before` that is an earlier version of the entry `item`, or None."""
        known = {each.entry_id: each.previous for each in self.past.items}
        name = item.previous
        while name is not None and name not in before:
            name = known.get(name)
        return None if name is None else before[name]


def snapshots_of(lake: "Lake", domain: str, assistant: str, episode: str | None) -> EpisodeSnapshots:
    """Return the snapshots of a memory in an episode; `episode` may be None if the memory played only one.

    Raises BadInput if the episode is unknown or ambiguous.
    """
    from memflow.run.transcripts import episode_histories

    partition = f"{domain}/{assistant}"
    domains = dict.fromkeys(name.partition("/")[0] for name in lake.partitions("memory.indexes"))
    if not domains:
        raise BadInput("the lake contains no memory entries. Create some with `memflow run --demo`.")
    if domain not in domains:
        raise BadInput(
            f"{domain!r} has no memory entries; domains with entries: {', '.join(domains)}. Create "
            f"some with `memflow run --domain {domain}`."
        )
    check_played(lake, domain, assistant, "memory.indexes")
    asked = lake.read("question.probes", domain) if domain in lake.partitions("question.probes") else []
    pasts = episode_histories(
        lake.read("memory.indexes", partition, vectors=False),
        lake.read("memory.transcripts", partition),
        asked,
    )
    if not pasts:
        raise BadInput(
            f"{assistant} has no messages in {domain}, because it did not play an episode there. "
            "Choose another assistant or domain."
        )
    if episode is None and len(pasts) > 1:
        some = ", ".join([*pasts][:MOST_NAMES]) + (", ..." if len(pasts) > MOST_NAMES else "")
        raise BadInput(f"{partition} has {len(pasts)} episodes: {some}. Choose one with --episode.")
    name = episode or next(iter(pasts))
    if name not in pasts:
        raise BadInput(unknown_name("episode", name, pasts, owner=partition))
    return EpisodeSnapshots(name, pasts[name])


def probe_of(lake: "Lake", domain: str, probe_id: str) -> "Probe":
    """Return the probe with this id. Raises BadInput if the id is unknown."""
    there = lake.partitions("question.probes")
    probes = lake.read("question.probes", domain) if domain in there else []
    for probe in probes:
        if probe.probe_id == probe_id:
            return probe
    first = (
        f" Use an id such as {probes[0].probe_id}." if probes else f" Run `memflow run --domain {domain}`."
    )
    raise BadInput(f"the domain {domain} has no probe {probe_id!r}.{first}")


def row_of(item: "Item") -> dict[str, Any]:
    """Return an entry as a dictionary of plain values, without its vector."""
    return {
        "entry_id": item.entry_id,
        "kind": item.kind,
        "text": item.text,
        "sources": list(item.sources),
        "since": item.since,
        "until": item.until,
        "role": item.role,
        "meta": dict(item.meta),
        "previous": item.previous,
    }
