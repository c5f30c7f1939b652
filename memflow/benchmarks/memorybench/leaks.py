"""Whether anything of a test case stands where it must not: rows of a memory that hold one, found.

Two signs tell. A dialogue names the case it is about in its messages' ids, and only training cases have dialogues. And
the gold of a test case is nobody's to say before it is asked: golds that can be told apart from what anyone might say
are searched for in every word. Passed over are golds of cases about a corpus, whose answers stand there for all to
read; golds that a training case shares, or its own question shows; and those shorter than `LONG`.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from memflow.benchmarks.memorybench.probes import case_of
from memflow.records import Entry, Probe, TranscriptMessage, Turn

LONG = 16
"""Characters from which on a text is taken to be one that nobody says by chance."""


def other_dialogues(said: Sequence[TranscriptMessage], probes: Sequence[Probe]) -> list[int]:
    """Messages of dialogues about anything but a training case."""
    train = _training(probes)
    return [at for at, line in enumerate(said) if not train.issuperset(_cases((line.message_id,)))]


def other_sources(entries: Sequence[Entry], probes: Sequence[Probe]) -> list[int]:
    """Entries that came from such a message."""
    train = _training(probes)
    return [at for at, entry in enumerate(entries) if not train.issuperset(_cases(entry.sources))]


def told_golds(rows: Sequence[Any], probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Messages or entries whose text holds the gold of a test case."""
    corpora = tuple({f"{turn.episode_id}/" for turn in turns})
    test = [probe for probe in probes if probe.split == "test" and not probe.probe_id.startswith(corpora)]
    shown = "\n".join(_plain(text) for probe in probes for text in _public(probe))
    golds = {text for probe in test for text in _texts(probe.gold) if len(text) >= LONG}
    texts = [_plain(row.text) for row in rows]
    everything = "\n".join(texts)
    leaked = [gold for gold in golds if gold in everything and gold not in shown]
    return [at for at, text in enumerate(texts) if any(gold in text for gold in leaked)]


def _training(probes: Iterable[Probe]) -> frozenset[str]:
    return frozenset(probe.probe_id for probe in probes if probe.split == "train")


def _cases(message_ids: Iterable[str]) -> set[str]:
    return {case for each in message_ids if (case := case_of(each)) is not None}


def _public(probe: Probe) -> Iterator[str]:
    yield probe.question
    yield from probe.options
    if probe.split == "train":
        yield probe.gold
        yield probe.revealed
        yield from _texts(probe.gold)


def _texts(gold: str) -> Collection[str]:
    """The texts of a gold, which may be a JSON object."""
    try:
        parts = json.loads(gold)
    except ValueError:
        parts = gold
    return {_plain(text) for text in _leaves(parts if isinstance(parts, dict | list) else gold)}


def _leaves(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _leaves(each)


def _plain(text: str) -> str:
    return " ".join(text.split())
