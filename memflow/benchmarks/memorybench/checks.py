"""Checks of MemoryBench's rows: only training cases have feedback, and no test case reaches a memory.

What code alone determines, such as the rounds of a dialogue and the random actions, is tested in the test suite.
Message ids of dialogues contain the case, and only training cases have dialogues. All texts are searched for the gold
of test cases. Cases about a corpus, and gold texts that are short or that training cases or questions contain, are
exempt. So are protocols that repeat training cases.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.probes import case_of
from memflow.benchmarks.memorybench.protocols import REPEATED
from memflow.checks.rules import (
    AcrossTables,
    PerDomain,
    Rule,
    add_descriptions,
    expect_all,
)
from memflow.records import Entry, FeedbackRound, Probe, TranscriptMessage, Turn

_PROBES = "question.probes"


def _leak_rule(table: str) -> PerDomain:
    rule = AcrossTables((table, _PROBES, "utterance.turns"), find_leaked_golds)
    return PerDomain(lambda domain: None if parameters_of(domain).protocol in REPEATED else rule)


MIN_GOLD_LENGTH = 16
"""Minimum characters of a gold text that cannot occur by chance."""


def find_test_feedback(rows: Sequence[FeedbackRound], probes: Sequence[Probe]) -> list[int]:
    """Return the positions of rounds of a case that is no training case."""
    train = _training(probes)
    return [at for at, row in enumerate(rows) if row.case_id not in train]


def find_test_dialogues(said: Sequence[TranscriptMessage], probes: Sequence[Probe]) -> list[int]:
    """Return the positions of messages in dialogues about a case that is no training case."""
    train = _training(probes)
    return [at for at, line in enumerate(said) if not train.issuperset(_cases((line.message_id,)))]


def find_test_sources(entries: Sequence[Entry], probes: Sequence[Probe]) -> list[int]:
    """Return the positions of entries derived from dialogues about a case that is no training case."""
    train = _training(probes)
    return [at for at, entry in enumerate(entries) if not train.issuperset(_cases(entry.sources))]


def find_leaked_golds(rows: Sequence[Any], probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of rows whose text contains the gold of a test case."""
    corpora = tuple({f"{turn.episode_id}/" for turn in turns})
    test = [probe for probe in probes if probe.split == "test" and not probe.probe_id.startswith(corpora)]
    shown = "\n".join(_plain(text) for probe in probes for text in _public(probe))
    golds = {text for probe in test for text in _texts(probe.gold) if len(text) >= MIN_GOLD_LENGTH}
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
    """Return the texts in a gold value, which can be a JSON object."""
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


_FEEDBACK, _TRANSCRIPTS, _INDEXES = "feedback.sessions", "memory.transcripts", "memory.indexes"
_RULES: dict[str, dict[str, Rule]] = {
    _FEEDBACK: {"feedback_on_training_cases_only": AcrossTables((_FEEDBACK, _PROBES), find_test_feedback)},
    _TRANSCRIPTS: {
        "only_training_cases_have_dialogues": AcrossTables((_TRANSCRIPTS, _PROBES), find_test_dialogues),
        "transcripts_contain_no_test_gold": _leak_rule(_TRANSCRIPTS),
    },
    _INDEXES: {
        "entry_sources_are_training_cases": AcrossTables((_INDEXES, _PROBES), find_test_sources),
        "entries_contain_no_test_gold": _leak_rule(_INDEXES),
    },
}
EXPECTED = add_descriptions(expect_all(_RULES), __package__)
"""All checks of MemoryBench."""
