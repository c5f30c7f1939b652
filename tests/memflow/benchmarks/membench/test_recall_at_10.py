"""recall@10 on MemDaily, compared with an independent count over the message texts.

The count uses numpy's cosines and a BM25 written in this module."""

import asyncio
import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from memflow.benchmarks.api import AssistantResults, States
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.registry import find_domain
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import find as memory_of
from memflow.records import RECALL_AT_10, Probe, TranscriptMessage
from memflow.run.answer import answer_all
from memflow.run.handlers import handlers
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows
from memflow.scoring.attribution import attribute, given_messages
from memflow.scoring.estimate import MetricContext
from memflow.scoring.evidence import evidence_scores
from memflow.words import search_words
from resources.data.library import Library

TRAJECTORIES = 120
Scores = Callable[[Sequence[str], str], list[float]]


def cosines(texts: Sequence[str], query: str) -> list[float]:
    """Return the cosine of each text with the query."""
    vectors = asyncio.run(HashingEmbedder().embed([*texts, query]))
    *rows, last = (vector / np.linalg.norm(vector) for vector in vectors.astype(np.float64))
    return [float(np.dot(row, last)) for row in rows]


def bm25(texts: Sequence[str], query: str) -> list[float]:
    """Return BM25 scores (k1 = 1.2, b = 0.75). A text without a word of the query scores 0."""
    documents = [search_words(text) for text in texts]
    average = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        counts, score = Counter(document), 0.0
        for word in search_words(query):
            having = sum(word in other for other in documents)
            weight = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            norm = 1.2 * (1 - 0.75 + 0.75 * len(document) / average)
            score += weight * counts[word] / (counts[word] + norm)
        scores.append(score)
    return scores


def independent_recall(
    probe: Probe, said: Sequence[TranscriptMessage], scores: Scores, *, matching: bool
) -> float:
    """Return the share of a probe's evidence among the ten messages with the highest scores.

    Older messages come first on ties. With `matching`, messages without a score are excluded.
    """
    ranked = sorted(
        enumerate(scores([f"user: {line.text}" for line in said], f"{probe.question} ({probe.asked_at})")),
        key=lambda each: (-round(each[1], 6), each[0]),
    )
    best = {said[at].message_id for at, score in ranked[:10] if score > 0 or not matching}
    return len(best & set(probe.evidence)) / len(set(probe.evidence))


@pytest.mark.parametrize(("name", "scores"), [("retrieval", cosines), ("bm25_message_10", bm25)])
def test_recall_at_10_on_memdaily_equals_independent_count(name: str, scores: Scores) -> None:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder or not (Path(folder) / "memdaily").is_dir():
        pytest.skip("set MEMFLOW_DATA to the data folder; it has no memdaily")
    benchmark, domain, library = (
        MemBench(),
        find_domain("membench_memdaily").limited(TRAJECTORIES),
        Library(folder),
    )
    found, _ = library.datasets_of(domain)
    records = [row for each in found for row in benchmark.records(each, library.paths(each))]
    chat, recipe = ScriptedChat(handlers()), memory_of(name)

    async def evaluated() -> tuple[list[Probe], list[TranscriptMessage], AssistantResults, list]:
        turns = await benchmark.turns(domain, records, States([]), chat)
        probes = await benchmark.probes(domain, records, States([]), turns, chat)
        remember = recipe.factory(Tools(chat, HashingEmbedder()))
        played = await play_all(benchmark.episodes(domain, States([]), turns, [], chat), remember, None)
        said, entries = transcript_rows(domain.name, name, played), entry_rows(domain.name, name, played)
        pasts = episode_histories(entries, said, probes)
        replies = await answer_all(benchmark, domain, name, probes, pasts, remember, chat)
        verdicts = await benchmark.verdicts(domain, probes, replies, None)  # type: ignore[arg-type]
        rows = attribute(
            domain.name, name, recipe.system, given=given_messages(said), said=said, entries=entries,
            probes=probes, replies=replies, verdicts=verdicts,
        )  # fmt: skip
        measured = AssistantResults(
            domain=domain.name, assistant=name, memory=name, model="scripted", probes=probes, verdicts=verdicts,
            oracle=[], none=[], simulator="", scripted=True,
        )  # fmt: skip
        return probes, said, measured, rows

    probes, said, measured, rows = asyncio.run(evaluated())
    valid = [probe for probe in probes if probe.reason is None]
    assert len(valid) > 0.9 * TRAJECTORIES
    counted = {
        probe.probe_id: independent_recall(
            probe,
            [line for line in said if line.episode_id == probe.episode_id],
            scores,
            matching=scores is bm25,
        )
        for probe in valid
    }
    recalled = {
        row.probe_id: row.recalled_at_10 / row.evidence for row in rows if row.recalled_at_10 is not None
    }
    assert recalled == pytest.approx(counted)
    assert 0 < sum(share < 1 for share in counted.values()) < len(counted), (
        "ten would be enough for all, or none"
    )
    context, slices = MetricContext.of(domain, measured), benchmark.slices(domain, probes)
    for slice_ in ("all", "level factual"):
        [score] = [
            each
            for each in evidence_scores(rows, context, slices)
            if (each.metric, each.slice) == (RECALL_AT_10, slice_)
        ]
        assert score.value == pytest.approx(sum(counted.values()) / len(counted))
        assert score.n == len(counted)
