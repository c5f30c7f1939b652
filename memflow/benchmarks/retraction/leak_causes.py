"""Why a leaked answer could give a fact away, from the entries that were current when the question was asked.

An entry with the words that the user told was never deleted, another one was derived from them, and without one the
answer was invented.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from memflow.benchmarks.views import Reader, stored_rows
from memflow.concurrency import run_coroutine
from memflow.memories.entries import Item
from memflow.records import STORED, Entry, Probe, TranscriptMessage, Turn
from memflow.scoring.leaks import RetractedFact, find_leaks

Cause = Literal["never deleted", "derived", "not in the store"]


@dataclass
class Evaluation:
    """The rows of one assistant in one domain."""

    probes: Sequence[Probe]
    turns: Sequence[Turn]
    transcript: Sequence[TranscriptMessage]
    entries: Sequence[Entry]

    @classmethod
    def read(cls, reader: Reader, domain: str, assistant: str) -> "Evaluation":
        """Return the stored rows."""
        key = f"{domain}/{assistant}"
        return cls(
            stored_rows(reader, "question.probes", [domain]),
            stored_rows(reader, "utterance.turns", [domain]),
            stored_rows(reader, "memory.transcripts", [key]),
            stored_rows(reader, "memory.indexes", [key]),
        )

    @cached_property
    def ends(self) -> dict[tuple[str, int], int]:
        """The sequence number after the last line of each (episode id, checkpoint)."""
        ends: dict[tuple[str, int], int] = {}
        for line in self.transcript:
            moment = line.episode_id, line.checkpoint
            ends[moment] = max(ends.get(moment, 0), line.sequence + 1)
        return ends

    def cause(self, probe: Probe) -> Cause:
        """Return why the answer to a probe could give its fact away. Paraphrases are not searched."""
        sequence = self.ends.get((probe.episode_id, probe.checkpoint), 0)
        current = [
            item
            for entry in self.entries
            if entry.episode_id == probe.episode_id and (item := _item(entry)).alive(sequence)
        ]
        fact = self._fact(probe)
        [leak] = run_coroutine(find_leaks(current, [fact]))
        if not leak.entries:
            return "not in the store"
        texts = [item.text for item in current if item.entry_id in leak.entries]
        told = self._told(probe, fact.value)
        return "never deleted" if any(words in text for text in texts for words in told) else "derived"

    def _told(self, probe: Probe, value: str) -> list[str]:
        """Return the messages in which a probe's fact was told, and the replies that repeat its value."""
        ids = {
            turn.message_id
            for turn in self.turns
            if turn.episode_id == probe.episode_id
            and turn.exposes is not None
            and probe.variables[0] in json.loads(turn.exposes)
        }
        return [
            line.text
            for line in self.transcript
            if line.message_id in ids or (line.message_id.removesuffix("+1") in ids and value in line.text)
        ]

    def _fact(self, probe: Probe) -> RetractedFact:
        """Return what is searched for a probe's fact, from the first look into the memory that names it."""
        key = probe.variables[0]
        fact = next(
            json.loads(look.gold)[key]
            for look in self.probes
            if look.kind == STORED and look.episode_id == probe.episode_id and key in look.variables
        )
        return RetractedFact(fact["value"], tuple(fact["wordings"]), tuple(fact["neighbors"]))


def _item(entry: Entry) -> Item:
    return Item(
        entry.entry_id,
        entry.kind,
        entry.text,
        tuple(entry.sources),
        entry.since,
        entry.until,
        entry.role,
    )
