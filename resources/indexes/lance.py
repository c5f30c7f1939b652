"""The search index of entries: LanceDB tables that can be searched after a run, as of any sequence number.

Each domain and assistant has a table, which is rebuilt from the lake in one write. During a run, memories search in
process instead.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from memflow.errors import BadInput, DamagedFile, MissingData
from resources.deferred_imports import empty_package
from resources.indexes.file_hashes import IndexHashes, index_name

NOT_RETIRED = 2**62
"""`until` of an entry that is not retired, so that one comparison filters by time."""
FUSION_CONSTANT = 60
"""The constant k of reciprocal rank fusion, for hybrid search."""
IMPORT_LOCK = Lock()
"""Held during the import of LanceDB: runs in two threads would import it at the same time."""


class LanceIndex:
    """A search index of entries by text, vector or both, as of any sequence number, in a folder or at a URL."""

    def __init__(self, root: str | Path) -> None:
        self.root = str(root)
        self._hashes = IndexHashes(self.root)

    def rebuild(
        self, domain: str, assistant: str, read: Callable[[], Iterable[pa.RecordBatch]], content: str = ""
    ) -> int:
        """Replace the indexed entries of a domain and assistant. Return the number of entries.

        `read` returns the batches of the table memory.indexes and is called twice. `content` is the hash of its rows,
        which is stored with the hashes of the index's files. Raises BadInput if vectors differ in length.
        """
        lancedb = _lancedb()
        from lancedb.index import FTS

        number, lengths = 0, set[int]()
        for batch in read():
            number += batch.num_rows
            lengths.update(pc.list_value_length(batch["vector"]).drop_null().unique().to_pylist())
        if len(lengths) > 1:
            raise BadInput(
                f"the entries of {assistant} in {domain} have vectors of different lengths ({sorted(lengths)}). "
                "Rerun them with a single embedder."
            )
        schema = pa.schema({**FIELDS, "vector": pa.list_(pa.float32(), next(iter(lengths), 1))})
        name = index_name(domain, assistant)
        with self._hashes.writing(name):
            is_damaged = self._hashes.damage(name) is not None
            self._hashes.discard(name)
            database = lancedb.connect(self.root)
            try:
                mode = "create" if is_damaged or _opened(database, name) is None else "overwrite"
            except (ValueError, RuntimeError, OSError):  # an index that cannot be opened
                is_damaged, mode = True, "create"
            if is_damaged:
                self._hashes.remove_files(name)
            held = pa.RecordBatchReader.from_batches(schema, (_indexed(batch, schema) for batch in read()))
            # LanceDB rejects null vectors by default.
            table = database.create_table(name, held, mode=mode, on_bad_vectors="null")
            if number:
                # ICU segments Chinese too; no stemming and no stop words.
                table.create_index(
                    "text", config=FTS(base_tokenizer="icu", stem=False, remove_stop_words=False)
                )
            self._hashes.store(name, content)
        return number

    def damage(self, domain: str, assistant: str) -> str | None:
        """Read all files of an index. Return why it is damaged; None if it is intact or has no hashes."""
        return self._hashes.damage(index_name(domain, assistant))

    def search(
        self,
        domain: str,
        assistant: str,
        *,
        text: str | None = None,
        vector: Sequence[float] | None = None,
        sequence: int | None = None,
        episode: str | None = None,
        k: int = 5,
    ) -> list[dict[str, Any]]:
        """Return the best `k` entries with a `score` (higher is better). With text and vector, the search is hybrid.

        With `sequence`, only entries with since <= sequence < until are searched. Entries without a vector are found by
        text only. Raises MissingData if the domain and assistant have no index.
        """
        if text is None and vector is None:
            raise BadInput(
                f"the search for entries of {assistant} in {domain} has neither a text nor a vector. Pass one or both."
            )
        table = self._table(domain, assistant)
        where = _where(sequence, episode)
        orders = []
        if text is not None and table.count_rows():
            orders.append(_by_text(table, text, where, k if vector is None else 4 * k))
        if vector is not None:
            orders.append(_by_vector(table, vector, where, k if text is None else 4 * k))
        return orders[0] if len(orders) == 1 else _fused(orders, k)

    def _table(self, domain: str, assistant: str) -> Any:
        name = index_name(domain, assistant)
        if (reason := self._hashes.damage(name)) is not None:
            raise DamagedFile(
                f"the search index of {assistant} in {domain} ({self.root}) is damaged: {reason}. Delete this "
                "folder, then rebuild it with `memflow run`."
            )
        table = _opened(_lancedb().connect(self.root), name)
        if table is None:
            raise MissingData(
                f"the entries of {assistant} in {domain} are not indexed at {self.root}. Run `memflow run`, or "
                "materialize the asset memory/indexes for this partition."
            )
        return table


def _lancedb() -> Any:
    """Import LanceDB without the client of its catalog servers: 600 ms of CPU time, and 20 MB."""
    with IMPORT_LOCK, empty_package("lance_namespace_urllib3_client"):
        import lancedb
    return lancedb


def _opened(database: Any, name: str) -> Any:
    try:
        return database.open_table(name)
    except ValueError as wrong:
        if "not found" not in str(wrong):
            raise
        return None


def _indexed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Convert a record batch of the table memory.indexes to the columns of the search index."""
    found = batch.select(schema.names)
    until = found.column("until").fill_null(NOT_RETIRED)
    return found.set_column(schema.get_field_index("until"), "until", until).cast(schema)


def _where(sequence: int | None, episode: str | None) -> str | None:
    parts = []
    if sequence is not None:
        parts.append(f"since <= {int(sequence)} AND until > {int(sequence)}")
    if episode is not None:
        parts.append("episode_id = '" + episode.replace("'", "''") + "'")
    return " AND ".join(parts) or None


FIELDS = {
    **dict.fromkeys(("episode_id", "entry_id", "kind", "text"), pa.string()),
    "sources": pa.list_(pa.string()),
    **dict.fromkeys(("since", "until"), pa.int64()),
    **dict.fromkeys(("role", "meta"), pa.string()),
}
"""The columns that a search returns, with their types."""


def _by_text(table: Any, text: str, where: str | None, k: int) -> list[dict[str, Any]]:
    query = table.search(text, query_type="fts").select([*FIELDS, "_score"]).limit(k)
    found = (query.where(where, prefilter=True) if where else query).to_list()
    return [_row(each, each["_score"]) for each in found]


def _by_vector(table: Any, vector: Sequence[float], where: str | None, k: int) -> list[dict[str, Any]]:
    wanted = " AND ".join(part for part in (where, "vector IS NOT NULL") if part)
    length = table.schema.field("vector").type.list_size
    if not table.count_rows("vector IS NOT NULL"):
        return []
    if len(vector) != length:
        raise BadInput(
            f"the query vector has {len(vector)} numbers, but the vectors of the entries have "
            f"{length}. Use the embedder that wrote the entries."
        )
    query = table.search(list(vector), vector_column_name="vector").distance_type("cosine")
    found = query.where(wanted, prefilter=True).select([*FIELDS, "_distance"]).limit(k).to_list()
    return [_row(each, 1 - each["_distance"]) for each in found]


def _row(found: dict[str, Any], score: float) -> dict[str, Any]:
    row = {name: found[name] for name in FIELDS}
    row["until"] = None if row["until"] == NOT_RETIRED else row["until"]
    return {**row, "score": score}


def _fused(orders: Sequence[Sequence[dict[str, Any]]], k: int) -> list[dict[str, Any]]:
    scores: dict[tuple[str, str], float] = {}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for order in orders:
        for rank, row in enumerate(order, start=1):
            key = (row["episode_id"], row["entry_id"])
            scores[key] = scores.get(key, 0.0) + 1 / (FUSION_CONSTANT + rank)
            rows[key] = row
    best = sorted(scores, key=lambda key: (-scores[key], key))[:k]
    return [{**rows[key], "score": scores[key]} for key in best]
