"""`memflow search`: a query to the stored entries of a memory, as of a checkpoint, by their words, vectors or both.

found = search_entries(settings, lake, "DOMAIN", "rag_2_4_30", "Which food do I like?", episode="nora", checkpoint=2)
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from memflow.chat.ledger import RequestContext
from memflow.errors import BadInput, ChatError, MissingData
from memflow.memories.entries import Vector
from memflow.memories.server.capabilities import NO_CONTENT, declared_capabilities, is_server
from memflow.pipeline import partition_key
from memflow.repeats import source_of
from memflow.resources.indexes.lance import EntryTable, LanceIndex, Moment
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.chats import Chats
from memflow.resources.models.models import Models
from memflow.resources.settings.settings import Settings
from memflow.run.transcripts import episode_histories
from memflow.suggestions import unknown_name

ENTRIES, TRANSCRIPTS = "memory.indexes", "memory.transcripts"
FOLDER = "lance"
"""The folder of the search indexes, below the home folder."""
Mode = Literal["vector", "text", "hybrid"]


@dataclass(frozen=True)
class SearchResult:
    """The best entries for a query, with a `score` (higher is better), and the moment and mode of the search.

    `episode`, `checkpoint` and `sequence` are None for a search over the current entries of all episodes. `entries` is
    the number of entries that were searched. `rows` have FIELDS of lance.py and `score`. The scores are BM25 scores,
    cosines, or sums of 1 / (60 + rank).
    """

    mode: Mode
    episode: str | None
    checkpoint: int | None
    sequence: int | None
    entries: int
    rows: list[dict[str, Any]]


def search_entries(
    settings: Settings,
    lake: Lake,
    domain: str,
    assistant: str,
    query: str,
    *,
    checkpoint: int | None = None,
    episode: str | None = None,
    mode: Mode | None = None,
    k: int = 5,
) -> SearchResult:
    """Search the stored entries of an assistant. The memory's own embedder embeds the query.

    Without `checkpoint`, the entries at the end of the episodes are searched; without `mode`, by text and vector where
    the entries have vectors, and otherwise by text. Raises BadInput for an unknown domain, assistant, episode,
    checkpoint or mode, for a search by vector over entries without vectors, and for a memory server without export.
    """
    if mode is not None and mode not in get_args(Mode):
        raise BadInput(f"a search has no mode {mode!r}. Use {', '.join(get_args(Mode))}.")
    _check_partition(lake, domain, assistant)
    system = settings.memory_of(assistant).system
    if is_server(system.memory):
        _check_export(lake, domain, assistant)
    moment, checkpoint = _moment(lake, domain, assistant, episode, checkpoint)
    moment = Moment(moment.episode, moment.sequence, system.memory.bookkeeping_kinds)
    table = open_table(settings, lake, domain, assistant)
    if mode in ("vector", "hybrid") and not table.has_vectors:
        raise BadInput(
            f"the entries of {assistant} in {domain} have no vectors, since the memory embeds nothing. Use --mode text."
        )
    mode = mode or ("hybrid" if table.has_vectors else "text")
    vector = None if mode == "text" else embed_query(settings, lake, domain, assistant, query)
    rows = table.search(moment, text=None if mode == "vector" else query, vector=vector, k=k)
    return SearchResult(mode, moment.episode, checkpoint, moment.sequence, table.count(moment), rows)


def open_table(settings: Settings, lake: Lake, domain: str, assistant: str) -> EntryTable:
    """Return the search index of an assistant's entries. It is built from the lake if it is of other entries."""
    name = source_of(ENTRIES, assistant)
    key = partition_key(domain, name)
    facts = lake.facts(ENTRIES, key)
    if facts is None:
        raise MissingData(f"{key} has no stored entries. Run `memflow run` first.")
    index = LanceIndex(settings.home / FOLDER)
    if index.content(domain, name) != facts.content:
        index.rebuild(domain, name, partial(lake.batches, ENTRIES, key), facts.content)
    return index.table(domain, name)


def check_stored_embedder(settings: Settings, lake: Lake, domain: str, assistant: str) -> None:
    """Raise BadInput if another embedder than that of the settings wrote the vectors of an assistant's entries.

    Vectors of two embedders may have equal lengths: a search would return entries in a meaningless order.
    """
    facts = lake.facts(ENTRIES, partition_key(domain, source_of(ENTRIES, assistant)))
    stored = facts.meta.get("embedder") if facts else None
    if stored not in (None, settings.embedder.name):
        raise BadInput(
            f"the entries of {assistant} in {domain} were embedded by {stored}, and the embedder of the settings is "
            f"{settings.embedder.name}. Name the former with --embedder, or under [embedder] "
            "(`memflow search --mode text` needs none)."
        )


def embed_query(settings: Settings, lake: Lake, domain: str, assistant: str, query: str) -> Sequence[float]:
    """Return the vector of a query by the embedder of an assistant's memory. Raises BadInput if there is none."""
    settings.check_embedder([assistant])
    check_stored_embedder(settings, lake, domain, assistant)
    models = Models(settings, SqlLedger(settings.ledger_url))

    async def embed(chats: Chats) -> Vector:
        return await (await chats.embedder()).embed([query], "query")

    try:
        context = RequestContext(run="search", stage="search", domain=domain, assistant=assistant)
        [vector] = models.run(context, embed)
    except ChatError as error:
        raise BadInput(
            f"the embedder {settings.embedder.name} returned no vector for the query ({error}). Set a model with "
            "embeddings as `embedder` in memflow.toml, or use --mode text."
        ) from error
    finally:
        models.close()
    return [float(number) for number in vector]


def _check_partition(lake: Lake, domain: str, assistant: str) -> None:
    """Raise BadInput with similar names if an assistant has no stored entries in a domain."""
    names: dict[str, list[str]] = {}
    for partition in lake.partitions(ENTRIES):
        of_domain, _, name = partition.partition("/")
        names.setdefault(of_domain, []).append(name)
    if domain not in names:
        raise BadInput(unknown_name("domain with stored entries", domain, names))
    if source_of(ENTRIES, assistant) not in names[domain]:
        raise BadInput(
            unknown_name("assistant with stored entries", assistant, names[domain], owner=domain)
            + f" Create them with `memflow run --domain {domain} --assistant {assistant}`."
        )


def _check_export(lake: Lake, domain: str, assistant: str) -> None:
    """Raise BadInput if a memory server does not export its items, so that there are no entries to search."""
    key = partition_key(domain, source_of(ENTRIES, assistant))
    for kind, meta in lake.columns(ENTRIES, key, ("kind", "meta")):
        declared = declared_capabilities(kind, json.loads(meta))
        if declared is not None and declared.export == "none":
            raise BadInput(f"{assistant} in {domain} cannot be searched: {NO_CONTENT}")


def _moment(
    lake: Lake, domain: str, assistant: str, episode: str | None, checkpoint: int | None
) -> tuple[Moment, int | None]:
    """Return the moment of an episode's checkpoint, by default of its last one, and the checkpoint."""
    key = partition_key(domain, source_of(TRANSCRIPTS, assistant))
    histories = episode_histories((), lake.stream(TRANSCRIPTS, key), ())
    if not histories:
        raise BadInput(
            f"{assistant} has no messages in {domain}, because it did not play an episode there. "
            "Search another assistant."
        )
    if episode is None and len(histories) == 1:
        [episode] = histories
    if episode is None:
        if checkpoint is None:
            return Moment(), None
        raise BadInput(
            f"{key} has {len(histories)} episodes, each with checkpoints of its own. Choose one with --episode: "
            f"{', '.join([*histories][:5])}{', ...' if len(histories) > 5 else ''}."
        )
    if episode not in histories:
        raise BadInput(unknown_name("episode", episode, histories, owner=key))
    checkpoints = histories[episode].checkpoints
    at = max(checkpoints) if checkpoint is None else checkpoint
    if at not in checkpoints:
        raise BadInput(f"episode {episode} has no checkpoint {at}. Use one from 0 to {max(checkpoints)}.")
    return Moment(episode, checkpoints[at]), at
