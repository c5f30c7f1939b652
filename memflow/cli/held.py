"""What a memory held at a checkpoint or when a probe was asked, and what became of it until a later checkpoint: data
from the lake's tables.

Nothing is played again: entries carry `since` and `until`, so any moment is a filter. How it is printed, memory.py.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.memories.entries import Item
    from memflow.records import Probe
    from memflow.run.answer import Past
    from resources.lake import Lake


@dataclass(frozen=True)
class Difference:
    """What changed between two checkpoints. A change is an entry held before and its version held after."""

    added: Sequence["Item"]
    retired: Sequence["Item"]
    changed: Sequence[tuple["Item", "Item"]]
    passed: Sequence["Item"]
    """Written and retired in between: held at neither checkpoint."""


@dataclass(frozen=True)
class Held:
    """The past of one episode, in which entries know when they were retired, later though it be."""

    episode: str
    past: "Past"

    @property
    def checkpoints(self) -> list[int]:
        """The checkpoints that were reached, in order."""
        return sorted(self.past.checkpoints)

    @property
    def kinds(self) -> list[str]:
        """Every kind of entry that was ever held, in the order of its first."""
        return list(dict.fromkeys(item.kind for item in self.past.items))

    def sequence(self, checkpoint: int) -> int:
        """The logical time of a checkpoint. Raises BadInput saying which there are."""
        if checkpoint not in self.past.checkpoints:
            last = self.checkpoints[-1]
            raise BadInput(f"episode {self.episode} has no checkpoint {checkpoint}; it has 0 to {last}")
        return self.past.checkpoints[checkpoint]

    def at(self, checkpoint: int, kinds: Iterable[str] = ()) -> list["Item"]:
        """What was held at a checkpoint, oldest first; of those kinds, if any are named."""
        return self.then(self.sequence(checkpoint), kinds)

    def then(self, sequence: int, kinds: Iterable[str] = ()) -> list["Item"]:
        """What was held at a logical time, likewise."""
        wanted = set(kinds)
        return [
            item for item in self.past.items if item.alive(sequence) and (not wanted or item.kind in wanted)
        ]

    def between(self, first: int, last: int, kinds: Iterable[str] = ()) -> Difference:
        """What changed from checkpoint `first` to `last`. What moved to another tier has changed its kind: it counts
        for both."""
        if first > last:
            raise BadInput(f"--diff takes the earlier checkpoint first, not {first} and {last}")
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

        return Difference(
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
        """The entry held before that `item` is a version of, however many lay between."""
        known = {each.entry_id: each.previous for each in self.past.items}
        name = item.previous
        while name is not None and name not in before:
            name = known.get(name)
        return None if name is None else before[name]


def held_of(lake: "Lake", domain: str, assistant: str, episode: str | None) -> Held:
    """The past of an episode; without a name of the only one. Raises BadInput saying what there is."""
    from memflow.run.transcripts import pasts_of

    partition = f"{domain}/{assistant}"
    there = lake.partitions("memory.indexes")
    if partition not in there:
        raise BadInput(_not_there(domain, assistant, there))
    asked = lake.read("question.probes", domain) if domain in lake.partitions("question.probes") else []
    pasts = pasts_of(
        lake.read("memory.indexes", partition, vectors=False),
        lake.read("memory.transcripts", partition),
        asked,
    )
    if not pasts:
        raise BadInput(f"{assistant} was given nothing in {domain}: no episode was played with it")
    if episode is None and len(pasts) > 1:
        raise BadInput(f"{partition} has several episodes: choose with --episode among {', '.join(pasts)}")
    name = episode or next(iter(pasts))
    if name not in pasts:
        raise BadInput(f"{partition} has no episode {name!r}; it has {', '.join(pasts)}")
    return Held(name, pasts[name])


def probe_of(lake: "Lake", domain: str, probe_id: str) -> "Probe":
    """The probe of that id. Raises BadInput."""
    there = lake.partitions("question.probes")
    probes = lake.read("question.probes", domain) if domain in there else []
    for probe in probes:
        if probe.probe_id == probe_id:
            return probe
    first = f"; its first is {probes[0].probe_id}" if probes else ""
    raise BadInput(f"{domain} has no probe {probe_id!r}{first}")


def _not_there(domain: str, assistant: str, there: Sequence[str]) -> str:
    if not there:
        return "no memory was written yet: `memflow run --demo` writes some"
    of_domain = [name.partition("/")[2] for name in there if name.partition("/")[0] == domain]
    if of_domain:
        return f"{domain} was not played with {assistant!r}; it was played with {', '.join(of_domain)}"
    domains = dict.fromkeys(name.partition("/")[0] for name in there)
    return f"{domain!r} was not played; there are memories of {', '.join(domains)}"


def row_of(item: "Item") -> dict[str, Any]:
    """An entry as data, without its vector."""
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
