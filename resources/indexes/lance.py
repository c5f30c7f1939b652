"""The search index of entries: LanceDB tables that can be searched after a run, as of any sequence number.

Each domain and assistant has a table, which is built from the lake in one write when it is first searched. During a
run, memories search in process instead.
"""

import fcntl
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.memories.search import fuse, fusion_depth
from memflow.records import Entry
from memflow.resources.lake.columns import schema, to_arrays
from memflow.run.context import EntrySearch
from memflow.words import search_words

APPROXIMATE_FROM = 100_000
"""Vectors from which a table has an approximate index, which a search over all episodes uses."""
PROBED, REFINED = 50, 30
"""Partitions of the approximate index that a search reads, and candidates for each result that are compared exactly."""
NOT_RETIRED = 2**62
"""`until` of an entry that is not retired, so that one comparison filters by time."""
BUILT = ".built"
"""The folder of the content hashes of the indexed rows, below the folder of the indexes."""
FIELDS = {
    **dict.fromkeys(("episode_id", "entry_id", "kind", "text"), pa.string()),
    "sources": pa.list_(pa.string()),
    **dict.fromkeys(("since", "until"), pa.int64()),
    **dict.fromkeys(("role", "meta"), pa.string()),
}
"""The columns that a search returns, with their types."""
EMBEDDED = "embedded"
"""The column that states whether an entry has a vector: a filter that reads no vectors."""


class LanceIndex:
    """The search indexes in a folder: a LanceDB table for each domain and assistant."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self._address = str(self.root)

    def rebuild(
        self, domain: str, assistant: str, read: Callable[[], Iterable[pa.RecordBatch]], content: str = ""
    ) -> int:
        """Replace the indexed entries of a domain and assistant. Return the number of entries.

        `read` returns the batches of the table memory.indexes and is called twice. `content` is the hash of its rows,
        which `content` returns later. Raises BadInput if vectors differ in length.
        """
        import lancedb
        from lancedb.index import FTS, IvfPq

        number, vectors, lengths = 0, 0, set[int]()
        for batch in read():
            number += batch.num_rows
            vectors += batch.num_rows - batch["vector"].null_count
            lengths.update(pc.list_value_length(batch["vector"]).drop_null().unique().to_pylist())
        if len(lengths) > 1:
            raise BadInput(
                f"the entries of {assistant} in {domain} have vectors of different lengths ({sorted(lengths)}). "
                f"Choose a single embedder, then rerun them with `memflow run --domain {domain} --force`."
            )
        vector = pa.list_(pa.float32(), next(iter(lengths), 1))
        columns = pa.schema({**FIELDS, EMBEDDED: pa.bool_(), "vector": vector})
        name = _index_name(domain, assistant)
        with self._writing(name):
            self._built(name).unlink(missing_ok=True)
            shutil.rmtree(self._folder(name), ignore_errors=True)
            rows = pa.RecordBatchReader.from_batches(columns, (_indexed(batch, columns) for batch in read()))
            # LanceDB rejects null vectors by default.
            table = lancedb.connect(self._address).create_table(name, rows, on_bad_vectors="null")
            if number:
                # ICU segments Chinese too; no stemming and no stop words.
                table.create_index(
                    "text", config=FTS(base_tokenizer="icu", stem=False, remove_stop_words=False)
                )
            if vectors >= APPROXIMATE_FROM:
                table.create_index("vector", config=IvfPq(distance_type="cosine"))
            self._built(name).write_text(content, encoding="utf-8")
        return number

    def content(self, domain: str, assistant: str) -> str | None:
        """Return the hash of the rows that an index was built from; None if it is missing or incomplete."""
        name = _index_name(domain, assistant)
        if not self._folder(name).is_dir() or not self._built(name).is_file():
            return None
        return self._built(name).read_text(encoding="utf-8")

    def table(self, domain: str, assistant: str) -> "EntryTable":
        """Return the index of a domain and assistant. Raises MissingData if there is none."""
        import lancedb

        name = _index_name(domain, assistant)
        if not self._folder(name).is_dir():
            raise MissingData(
                f"the entries of {assistant} in {domain} are not indexed at {self.root}. `memflow search` indexes them."
            )
        with _reading(self._folder(name)):
            return EntryTable(lancedb.connect(self._address).open_table(name), self._folder(name))

    def _folder(self, name: str) -> Path:
        return self.root / f"{name}.lance"

    def _built(self, name: str) -> Path:
        return self.root / BUILT / name

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """Lock an index while it is written, since two processes may build the same partition."""
        path = self.root / BUILT / f".{name}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@dataclass(frozen=True)
class Moment:
    """The entries that a search considers: those of an episode, and those that are current at a sequence number.

    Without a sequence number, the entries that were never retired. `ignored` are kinds of entries that are left out.
    """

    episode: str | None = None
    sequence: int | None = None
    ignored: Collection[str] = ()

    @property
    def condition(self) -> str:
        """The condition in SQL."""
        at = self.sequence
        parts = [f"until = {NOT_RETIRED}" if at is None else f"since <= {int(at)} AND until > {int(at)}"]
        if self.episode is not None:
            parts.append(f"episode_id = {_literal(self.episode)}")
        if self.ignored:
            parts.append(f"kind NOT IN ({', '.join(map(_literal, sorted(self.ignored)))})")
        return " AND ".join(parts)


@dataclass(frozen=True)
class EntryTable:
    """The open index of one domain and assistant. Searches raise DamagedFile if LanceDB cannot read its files."""

    table: Any
    folder: Path

    @cached_property
    def has_vectors(self) -> bool:
        """Whether some of the entries have vectors."""
        with _reading(self.folder):
            return bool(self.table.count_rows(EMBEDDED))

    def count(self, moment: Moment) -> int:
        """Return the number of entries of a moment."""
        with _reading(self.folder):
            return int(self.table.count_rows(moment.condition))

    def search(
        self,
        moment: Moment,
        *,
        text: str | None = None,
        vector: Sequence[float] | None = None,
        k: int = 5,
    ) -> list[dict[str, Any]]:
        """Return the best `k` entries with a `score` (higher is better). With text and vector, the search is hybrid.

        Entries without a vector are found by text only. Raises BadInput for a vector of another length.
        """
        if vector is None:
            if text is None:
                raise BadInput("the search for entries has neither a text nor a vector. Pass one or both.")
            return self.by_text(moment, text, k)
        if text is None:
            return self.by_vector(moment, vector, k)
        depth = fusion_depth(k)
        rankings = [self.by_text(moment, text, depth), self.by_vector(moment, vector, depth)]
        rows = {_key(row): row for ranking in rankings for row in ranking}
        scores = fuse([_key(row) for row in ranking] for ranking in rankings)
        best = sorted(scores, key=lambda key: (-scores[key], key))[:k]
        return [{**rows[key], "score": scores[key]} for key in best]

    def by_text(self, moment: Moment, text: str, k: int) -> list[dict[str, Any]]:
        """Return FIELDS and `score` of the best `k` entries by BM25, best first. The text's stop words are left out."""
        words = " ".join(search_words(text)) or text
        with _reading(self.folder):
            if not self.table.count_rows():
                return []
            query = self.table.search(words, query_type="fts").where(moment.condition, prefilter=True)
            rows = query.select([*FIELDS, "_score"]).limit(k).to_list()
        return _ranked((row, row["_score"]) for row in rows)

    def by_vector(self, moment: Moment, vector: Sequence[float], k: int) -> list[dict[str, Any]]:
        """Return the `k` entries that are nearest to a vector.

        The search is exact over an episode, and over all episodes with fewer than APPROXIMATE_FROM vectors.
        """
        if not self.has_vectors:
            return []
        length = self.table.schema.field("vector").type.list_size
        if len(vector) != length:
            raise BadInput(
                f"the query vector has {len(vector)} numbers, but the vectors of the entries have "
                f"{length}. Use the embedder that wrote the entries."
            )
        with _reading(self.folder):
            query = self.table.search(list(vector), vector_column_name="vector").distance_type("cosine")
            query = query.where(f"{moment.condition} AND {EMBEDDED}", prefilter=True)
            is_exact = moment.episode is not None
            query = query.bypass_vector_index() if is_exact else query.nprobes(PROBED).refine_factor(REFINED)
            rows = query.select([*FIELDS, "_distance"]).limit(k).to_list()
        return _ranked((row, 1 - row["_distance"]) for row in rows)


@contextmanager
def searchable(entries: Sequence[Entry]) -> Iterator[EntrySearch]:
    """Index entries in a temporary folder, and return a search over them."""
    with TemporaryDirectory(prefix="memflow-index-") as folder:
        arrays = to_arrays("memory.indexes", entries)
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema("memory.indexes"))
        index = LanceIndex(folder)
        index.rebuild("entries", "all", lambda: [batch])
        table = index.table("entries", "all")

        def search(episode: str, sequence: int, query: str | Sequence[float], k: int) -> list[str]:
            moment = Moment(episode, sequence)
            if isinstance(query, str):
                return [row["entry_id"] for row in table.by_text(moment, query, k)]
            return [row["entry_id"] for row in table.by_vector(moment, query, k)]

        yield search


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Raise DamagedFile instead of LanceDB's errors, which it also raises for files that changed."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:
        raise DamagedFile(
            f"cannot read the search index {folder} ({str(error).partition(chr(10))[0]}). Delete this folder and "
            "rerun: the index is built again from the lake."
        ) from error


def _index_name(domain: str, assistant: str) -> str:
    """Return the name of the LanceDB table of a domain and assistant, in characters that LanceDB allows."""
    quoted = quote(f"{domain}.{assistant}".replace("@", "."), safe="")
    return quoted.replace("~", "%7E").replace("%", "-")


def _indexed(batch: pa.RecordBatch, columns: pa.Schema) -> pa.RecordBatch:
    """Convert a record batch of the table memory.indexes to the columns of the search index."""
    rows = batch.select([name for name in columns.names if name != EMBEDDED])
    rows = rows.add_column(len(FIELDS), EMBEDDED, pc.is_valid(rows["vector"]))
    until = rows.column("until").fill_null(NOT_RETIRED)
    return rows.set_column(columns.get_field_index("until"), "until", until).cast(columns)


def _ranked(scored: Iterable[tuple[dict[str, Any], float]]) -> list[dict[str, Any]]:
    """Return rows with their scores, best first; equal scores are ordered by age, and by id."""
    rows = [{**{name: row[name] for name in FIELDS}, "score": score} for row, score in scored]
    for row in rows:
        row["until"] = None if row["until"] == NOT_RETIRED else row["until"]
    return sorted(rows, key=lambda row: (-row["score"], row["since"], _key(row)))


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["episode_id"], row["entry_id"]


def _literal(text: str) -> str:
    """Return a text as a string literal in SQL."""
    return "'" + text.replace("'", "''") + "'"
