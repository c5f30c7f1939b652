"""The life of a retracted fact in a memory: told, stored, derived, taken back, found again.

A leaked answer is traced to the entries that were current when it was asked: an entry with the words that the user told
was never deleted, another one was derived from them, and without one the answer was invented.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from memflow.benchmarks.views import Reader, stored_rows
from memflow.concurrency import run_coroutine
from memflow.errors import BadInput
from memflow.memories.entries import Item
from memflow.records import STORED, Entry, Probe, Reply, TranscriptMessage, Turn
from memflow.scoring.leaks import RetractedFact, StoreLeak, find_leaks

Cause = Literal["never deleted", "derived", "not in the store"]


@dataclass
class Evaluation:
    """The rows of one assistant in one domain."""

    probes: Sequence[Probe]
    turns: Sequence[Turn]
    transcript: Sequence[TranscriptMessage]
    entries: Sequence[Entry]
    replies: Sequence[Reply]
    ends: dict[tuple[str, int], int] = field(default_factory=dict)
    """The sequence number at the end of each episode's checkpoint."""
    _leaks: dict[tuple[str, int, str], StoreLeak] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.transcript:
            moment = line.episode_id, line.checkpoint
            self.ends[moment] = max(self.ends.get(moment, 0), line.sequence + 1)

    @classmethod
    def read(cls, reader: Reader, domain: str, assistant: str) -> "Evaluation":
        """Return the stored rows. Raises BadInput if the assistant was not evaluated in the domain."""
        key = f"{domain}/{assistant}"
        if reader.facts("answer.replies", key) is None:
            raise BadInput(
                f"{assistant} has no answers in {domain}. Evaluate it with `memflow run --domain {domain} "
                f"--memory {assistant}`."
            )
        return cls(
            stored_rows(reader, "question.probes", [domain]),
            stored_rows(reader, "utterance.turns", [domain]),
            stored_rows(reader, "memory.transcripts", [key]),
            stored_rows(reader, "memory.indexes", [key]),
            stored_rows(reader, "answer.replies", [key]),
        )

    def current(self, episode: str, checkpoint: int) -> list[Entry]:
        """Return the entries that were current at the end of a checkpoint."""
        sequence = self.ends.get((episode, checkpoint), 0)
        return [
            entry for entry in self.entries if entry.episode_id == episode and _item(entry).alive(sequence)
        ]

    def leak(self, episode: str, checkpoint: int, key: str) -> StoreLeak:
        """Return how the current entries of a checkpoint contain a fact. Paraphrases are not searched."""
        moment = episode, checkpoint, key
        if moment not in self._leaks:
            fact = self._fact(episode, key)
            held = [_item(entry) for entry in self.current(episode, checkpoint)]
            self._leaks[moment] = run_coroutine(find_leaks(held, [fact]))[0]
        return self._leaks[moment]

    def cause(self, probe: Probe) -> Cause:
        """Return why the answer to a probe could give a fact away."""
        key = probe.variables[0]
        leaking = set(self.leak(probe.episode_id, probe.checkpoint, key).entries)
        if not leaking:
            return "not in the store"
        told = self._told(probe.episode_id, key)
        texts = [
            entry.text
            for entry in self.current(probe.episode_id, probe.checkpoint)
            if entry.entry_id in leaking
        ]
        return "never deleted" if any(words in text for text in texts for words in told) else "derived"

    def stating(self, episode: str, key: str) -> list[Turn]:
        """Return the messages in which the user told a fact."""
        return [
            turn
            for turn in self.turns
            if turn.episode_id == episode and turn.exposes is not None and key in json.loads(turn.exposes)
        ]

    def _told(self, episode: str, key: str) -> list[str]:
        """Return the messages in which a fact was told, and the replies that repeat its value."""
        ids = {turn.message_id for turn in self.stating(episode, key)}
        value = self._fact(episode, key).value
        return [
            line.text
            for line in self.transcript
            if line.message_id in ids or (line.message_id.removesuffix("+1") in ids and value in line.text)
        ]

    def _fact(self, episode: str, key: str) -> RetractedFact:
        for probe in self.probes:
            if probe.kind == STORED and probe.episode_id == episode and key in probe.variables:
                fact = json.loads(probe.gold)[key]
                return RetractedFact(fact["value"], tuple(fact["wordings"]), tuple(fact["neighbors"]))
        raise BadInput(f"the fact {key!r} of {episode} is not taken back. Choose a probe of a fact that is.")

    def events(self, probe: Probe) -> list[tuple[str, str, str, str]]:
        """Return the life of a probe's fact in order: what happened, when, where, and the text."""
        episode, key = probe.episode_id, probe.variables[0]
        stating = self.stating(episode, key)
        told = self._told(episode, key)
        sequences = {line.message_id: line.sequence for line in self.transcript if line.episode_id == episode}
        checkpoints = sorted(at for name, at in self.ends if name == episode)
        leaks = {at: self.leak(episode, at, key) for at in checkpoints}
        shown = {entry for leak in leaks.values() for entry in leak.entries}
        events: list[tuple[int, int, tuple[str, str, str, str]]] = []

        def add(sequence: int, order: int, *event: str) -> None:
            what, when, where, text = event
            events.append((sequence, order, (what, when, where, text)))

        for turn in stating:
            add(sequences.get(turn.message_id, 0), 0, "told", turn.sent_at or "", turn.message_id, turn.text)
        for entry in self.entries:
            if entry.episode_id == episode and entry.entry_id in shown:
                what = "stored" if any(words in entry.text for words in told) else "derived"
                add(entry.since, 1, what, "", f"{entry.kind} {entry.entry_id}", entry.text)
                if entry.until is not None:
                    add(entry.until, 3, "ended", "", entry.entry_id, "")
        for line in self.transcript:
            if line.episode_id == episode and line.forgets is not None and self._names(line, probe, stating):
                came = line.forget_failure or f"{line.ended_entries} entries ended"
                add(
                    line.sequence,
                    2,
                    "taken back",
                    line.sent_at or "",
                    line.message_id,
                    f"{line.text} ({came})",
                )
        replies = {reply.probe_id: reply for reply in self.replies}
        for at, leak in leaks.items():
            text = f"{leak.form}: {', '.join(leak.entries)}" if leak.form else "in no entry"
            add(self.ends[episode, at], 4, "store", f"checkpoint {at}", "", text)
            for question in self.probes:
                asked = question.episode_id, question.checkpoint, question.variables
                if question.kind != STORED and asked == (episode, at, [key]):
                    answer = _answer(question, replies)
                    add(self.ends[episode, at], 5, "asked", f"checkpoint {at}", question.probe_id, answer)
        return [event for _, _, event in sorted(events, key=lambda event: event[:2])]

    def _names(self, line: TranscriptMessage, probe: Probe, stating: Sequence[Turn]) -> bool:
        """Return whether a request names the fact of a probe."""
        request = json.loads(line.forgets or "{}")
        if request["by"] == "message":
            return any(turn.message_id in request["message_ids"] for turn in stating)
        evidence = (other.evidence for other in self.probes if other.variables == probe.variables)
        return any(line.message_id in names for names in evidence)


def _answer(probe: Probe, replies: dict[str, Reply]) -> str:
    reply = replies.get(probe.probe_id)
    if reply is None or reply.parsed is None:
        return f"{probe.question} → no answer"
    at = int(reply.parsed) - 1 if probe.options and reply.parsed.isdigit() else None
    return f"{probe.question} → {reply.parsed if at is None else probe.options[at]}"


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
