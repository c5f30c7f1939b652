"""Conversion between played episodes and the rows of the memory tables, in both directions."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from memflow.memories.entries import Item
from memflow.memories.evolving import policy_step
from memflow.records import Claim, Entry, Policy, Probe, TranscriptMessage
from memflow.run.answer import EpisodeHistory
from memflow.run.play import PlayedEpisode, PlayedMessage

OF_MESSAGE = ("message_id", "role", "speaker", "text", "sent_at")
OF_LINE = tuple(field.name for field in fields(PlayedMessage) if field.name not in ("message", "event"))
OF_ITEM = ("entry_id", "kind", "text", "since", "until", "role", "previous")
OF_STEP = ("cycle", "checkpoint", "asked", "answered", "correct", "completion", "reason")
"""The columns that a message, a line of a transcript, an entry and a step of evolution have by the same name."""
EPISODES_AT_ONCE = 64
"""Episodes whose stored entries are in memory at once."""


def _columns(row: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def transcript_rows(
    domain: str, assistant: str, episodes: Iterable[PlayedEpisode]
) -> list[TranscriptMessage]:
    """Return the transcript rows of played episodes."""
    return [
        TranscriptMessage(
            domain=domain,
            assistant=assistant,
            episode_id=episode.episode_id,
            checkpoint=line.event.checkpoint,
            event=line.event.number,
            **_columns(line.message, OF_MESSAGE),
            **_columns(line, OF_LINE),
        )
        for episode in episodes
        for line in episode.lines
    ]


def entry_rows(domain: str, assistant: str, episodes: Iterable[PlayedEpisode]) -> list[Entry]:
    """Return the entry rows of played episodes, in the order in which the memories added the entries."""
    return [
        Entry(
            domain=domain,
            assistant=assistant,
            episode_id=episode.episode_id,
            sources=list(item.sources),
            vector=None if item.vector is None else item.vector.tolist(),
            meta=json.dumps(item.meta, ensure_ascii=False, sort_keys=True),
            **_columns(item, OF_ITEM),
        )
        for episode in episodes
        for item in sorted(episode.store, key=lambda item: item.order)
    ]


def policy_rows(
    domain: str, assistant: str, values: Mapping[str, Any], episodes: Iterable[PlayedEpisode]
) -> list[Policy]:
    """Return the policy rows of played episodes; `values` contains the memory's parameters."""
    rows = []
    for episode in episodes:
        items_and_steps = [
            (item, policy_step(item)) for item in sorted(episode.store, key=lambda item: item.order)
        ]
        steps = [(item, step) for item, step in items_and_steps if step is not None]
        rows += [
            Policy(
                domain=domain,
                assistant=assistant,
                episode_id=episode.episode_id,
                step=number,
                cadence=str(values["cadence"]),
                feedback=str(values["feedback"]),
                kinds=list(step.kinds),
                changes=list(step.changes),
                since=item.since,
                **_columns(step, OF_STEP),
            )
            for number, (item, step) in enumerate(steps)
        ]
    return rows


def episode_histories(
    entries: Iterable[Entry], transcript: Iterable[TranscriptMessage], probes: Iterable[Probe | Claim]
) -> dict[str, EpisodeHistory]:
    """Return the history of every played episode, with the checkpoints and messages that `probes` or claims refer to.

    A checkpoint without events has the sequence number of the preceding checkpoint.
    """
    last_checkpoints: dict[str, int] = defaultdict(int)
    followed_ids: set[str] = set()
    for probe in probes:
        last_checkpoints[probe.episode_id] = max(last_checkpoints[probe.episode_id], probe.checkpoint)
        if isinstance(probe, Probe) and probe.after is not None:
            followed_ids.add(probe.after)
    items: dict[str, list[Item]] = defaultdict(list)
    for row in entries:
        items[row.episode_id].append(_item(row, len(items[row.episode_id])))
    end_sequences: dict[str, dict[int, int]] = defaultdict(dict)
    start_sequences: dict[str, dict[int, int]] = defaultdict(dict)
    messages: dict[str, dict[str, int]] = defaultdict(dict)
    for line in transcript:
        if line.reason is None:
            sequences = end_sequences[line.episode_id]
            sequences[line.checkpoint] = max(sequences.get(line.checkpoint, 0), line.sequence + 1)
            start = start_sequences[line.episode_id].get(line.checkpoint, line.sequence)
            start_sequences[line.episode_id][line.checkpoint] = min(start, line.sequence)
            if line.message_id in followed_ids:
                messages[line.episode_id][line.message_id] = line.sequence + 1
    histories = {}
    for episode, sequences in end_sequences.items():
        checkpoints: dict[int, int] = {}
        sequence = 0
        for checkpoint in range(max(last_checkpoints[episode], *sequences) + 1):
            sequence = max(sequence, sequences.get(checkpoint, 0))
            checkpoints[checkpoint] = sequence
        histories[episode] = EpisodeHistory(
            items[episode], checkpoints, messages[episode], starts=start_sequences[episode]
        )
    return histories


def episode_batches(episodes: Iterable[str]) -> Iterator[list[str]]:
    """Yield the ids of EPISODES_AT_ONCE episodes at a time, in order."""
    episodes = list(episodes)
    for start in range(0, len(episodes), EPISODES_AT_ONCE):
        yield episodes[start : start + EPISODES_AT_ONCE]


def memory_texts(
    histories: Mapping[str, EpisodeHistory], claims: Iterable[Claim], ignored_kinds: Collection[str]
) -> dict[tuple[str, int], str]:
    """Return the text of all entries, except those of `ignored_kinds`, by (episode, checkpoint) of the claims."""
    moments = dict.fromkeys((claim.episode_id, claim.checkpoint) for claim in claims)
    return {
        (episode, checkpoint): "\n".join(
            item.text for item in histories[episode].at(checkpoint).live() if item.kind not in ignored_kinds
        )
        for episode, checkpoint in moments
        if episode in histories
    }


def _item(row: Entry, order: int) -> Item:
    """Return a stored row as an entry of a memory, the `order`-th of its episode."""
    vector = None if row.vector is None else np.asarray(row.vector, dtype=np.float32)
    return Item(
        row.entry_id,
        row.kind,
        row.text,
        tuple(row.sources),
        row.since,
        row.until,
        row.role,
        vector,
        order,
        json.loads(row.meta),
        row.previous,
    )
