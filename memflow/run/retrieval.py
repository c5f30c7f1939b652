"""The step `retrieval`: the stored entries are searched again for each probe with evidence, without a chat model.

memflow/scoring/retrieval.py compares the searches with what the memory itself recalled.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from memflow.memories.search import fuse, fusion_depth
from memflow.records import Entry, FailureAttribution, Probe, ProbeRetrieval, Reply
from memflow.run.answer import EpisodeHistory
from memflow.run.context import EntrySearch, StepContext, Tables
from memflow.run.transcripts import episode_batches, episode_histories
from memflow.scoring.attribution import received_evidence, sequence_numbers
from memflow.scoring.retrieval import HYBRID, TEXT, VECTOR, ProbeEntries, retrieval_rows, unmeasured_row


async def measure_retrieval(context: StepContext) -> Tables:
    """Search the stored entries again for each probe with evidence, and compare with what the memory recalled."""
    attributions: dict[str, list[FailureAttribution]] = defaultdict(list)
    for row in context.stream("score.attributions"):
        if row.evidence:
            attributions[row.episode_id].append(row)
    probes = {probe.probe_id: probe for probe in context.test_probes()}
    sequence_by_message = sequence_numbers(context.stream("memory.transcripts")) if attributions else {}
    rows: list[ProbeRetrieval] = []
    for batch in episode_batches(attributions):  # the entries of a batch are in memory and in one index
        episodes = {name: attributions[name] for name in batch}
        rows += await _measure(context, episodes, probes, sequence_by_message)
    return {"score.retrieval": rows}


async def _measure(
    context: StepContext,
    attributions: Mapping[str, Sequence[FailureAttribution]],
    probes: Mapping[str, Probe],
    sequence_by_message: Mapping[str, int],
) -> list[ProbeRetrieval]:
    """Return the rows of the probes of some episodes; a row with unknown stored or recalled entries has a reason."""
    all_attributions = list(chain.from_iterable(attributions.values()))
    # Without an export of the memory server, or with a failed reply, there is nothing to compare.
    measurable = [row for row in all_attributions if row.stored is not None and row.recalled is not None]
    rows_by_probe = {
        row.probe_id: [unmeasured_row(row, row.reason or "no recall")] for row in all_attributions
    }
    if not measurable:
        return list(chain.from_iterable(rows_by_probe.values()))
    ignored_kinds = context.memory.system.kinds_without_evidence
    index_rows = list(context.stream("memory.indexes", episodes=attributions))
    histories = episode_histories(
        index_rows,
        context.stream("memory.transcripts", episodes=attributions),
        [probes[row.probe_id] for row in measurable],
    )
    replies = {row.probe_id: row for row in context.stream("answer.replies", episodes=attributions)}
    entries = await _with_vectors(context, [row for row in index_rows if row.kind not in ignored_kinds])
    queries = [context.query(probes[row.probe_id]) for row in measurable]
    vectors = await (await context.models.embedder()).embed(queries, "query")
    with context.index(entries) as search:
        for row, query, vector in zip(measurable, queries, vectors, strict=True):
            probe, reply, history = probes[row.probe_id], replies[row.probe_id], histories[row.episode_id]
            entries_of_probe = _entries_of(row, probe, history, reply, sequence_by_message, ignored_kinds)
            rankings = _rankings(search, entries_of_probe, history.sequence(probe), query, vector.tolist())
            rows_by_probe[row.probe_id] = retrieval_rows(entries_of_probe, rankings)
    return list(chain.from_iterable(rows_by_probe.values()))


def _entries_of(
    row: FailureAttribution,
    probe: Probe,
    history: EpisodeHistory,
    reply: Reply,
    sequence_by_message: Mapping[str, int],
    kinds: frozenset[str],
) -> ProbeEntries:
    """Return the evidence, the live entries and the recalled entries of a probe, as of its sequence number."""
    moment = history.sequence(probe)
    items = {item.entry_id: item for item in history.items if item.kind not in kinds and item.alive(moment)}
    ids = [name for name in dict.fromkeys(reply.recalled) if name in items]
    return ProbeEntries(row, received_evidence(probe, moment, sequence_by_message), items, ids)


def _rankings(
    search: EntrySearch, probe: ProbeEntries, sequence: int, query: str, vector: Sequence[float]
) -> dict[str, Sequence[str]]:
    """Return the rankings of a probe's entries by each mode of search, as deep as its k and tokens may need."""
    episode, depth = probe.attribution.episode_id, fusion_depth(probe.k)
    by_text, by_vector = search(episode, sequence, query, depth), search(episode, sequence, vector, depth)
    scores = fuse([by_text, by_vector])
    by_fusion = sorted(scores, key=lambda name: (-scores[name], name))
    return {HYBRID: by_fusion, VECTOR: by_vector, TEXT: by_text}


async def _with_vectors(context: StepContext, entries: list[Entry]) -> list[Entry]:
    """Return the entries with vectors: their own, or those of the configured embedder."""
    without_vector = [row for row in entries if row.vector is None]
    if not without_vector:
        return entries
    embedder = await context.models.embedder()
    vectors = iter((await embedder.embed([row.text for row in without_vector], "passage")).tolist())
    return [row if row.vector is not None else replace(row, vector=next(vectors)) for row in entries]
