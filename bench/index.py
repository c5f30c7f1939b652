"""The search index of entries at 1,000,000 entries: recall against exact search, latency, and size on disk.

The entries have unit vectors of 256 numbers around 5,000 centers, and texts of 8 words drawn from a seed. The index is
that of `memflow search` (resources/indexes/lance.py): one write, a full-text index, and an approximate index of the
vectors, which a search over all episodes uses. The peer is exact search in the same table. Each query is near an entry.

    python -m bench.index [--entries 1000000]

The exit code is 1 if the approximate search has less than 0.9 of the ten nearest entries that exact search returns.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench.measure import arguments, report
from memflow.resources.indexes.lance import FIELDS, EntryTable, LanceIndex, Moment

DIMENSIONS, CENTERS, SPREAD = 256, 5_000, 0.8
BATCH = 50_000
QUERIES, K = 25, 10
REQUIRED = 0.9
WORDS = np.array([f"word{number}" for number in range(20_000)])
SENTENCES = np.array([" ".join(words) for words in np.random.default_rng(4).choice(WORDS, (50_000, 8))])

Array = npt.NDArray[np.float32]


def main() -> int:
    """Print the size, the recall and the latencies of the index. Return 1 if the recall is too low."""
    entries = arguments(entries=1_000_000).entries
    with tempfile.TemporaryDirectory() as folder:
        index = LanceIndex(folder)
        began, cpu = time.perf_counter(), time.process_time()
        index.rebuild("bench", "memory", lambda: batches(entries))
        built = {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        table = index.table("bench", "memory")
        report({"bench": "index_build", "entries": entries, "megabytes": size / 1e6, **built})
        recall = measure(table, entries)
    return int(recall < REQUIRED)


def measure(table: EntryTable, entries: int) -> float:
    """Print the latencies of each search. Return the recall of the approximate search."""
    rng = np.random.default_rng(1)
    vectors = unit(
        draw_vectors(0, min(BATCH, entries))[:QUERIES] + 0.02 * rng.normal(size=(QUERIES, DIMENSIONS))
    )
    texts = [" ".join(words) for words in rng.choice(WORDS, (QUERIES, 3))]
    shares = []
    times: dict[str, list[float]] = {"approximate": [], "exact": [], "text": []}
    table.count(Moment())  # opens the files
    for vector, text in zip(vectors.tolist(), texts, strict=True):
        near = timed(times["approximate"], partial(approximate_ids, table, vector))
        exact = timed(times["exact"], partial(exact_ids, table, vector))
        timed(times["text"], partial(text_ids, table, text))
        shares.append(len(near & exact) / K)
    recall = sum(shares) / len(shares)
    latencies = {f"{name}_ms": 1000 * median(values) for name, values in times.items()}
    report({"bench": "index_search", "k": K, "queries": QUERIES, "recall": recall, **latencies})
    return recall


def timed(times: list[float], work: Callable[[], set[str]]) -> set[str]:
    """Call `work`, add its seconds to `times`, and return its result."""
    began = time.perf_counter()
    result = work()
    times.append(time.perf_counter() - began)
    return result


def exact_ids(table: EntryTable, vector: list[float]) -> set[str]:
    """Return the nearest entries without the approximate index."""
    query = table.table.search(vector, vector_column_name="vector").distance_type("cosine")
    rows = query.bypass_vector_index().select(["entry_id", "_distance"]).limit(K).to_list()
    return {row["entry_id"] for row in rows}


def approximate_ids(table: EntryTable, vector: list[float]) -> set[str]:
    """Return the entries that the search of `memflow search` finds near a vector."""
    return {row["entry_id"] for row in table.by_vector(Moment(), vector, K)}


def text_ids(table: EntryTable, text: str) -> set[str]:
    """Return the entries that the search finds by words."""
    return {row["entry_id"] for row in table.by_text(Moment(), text, K)}


def draw_vectors(start: int, count: int) -> Array:
    """Return unit vectors around centers, the same ones for the same numbers."""
    centers = np.random.default_rng(0).normal(size=(CENTERS, DIMENSIONS)).astype(np.float32)
    rng = np.random.default_rng(start + 2)
    noise = rng.normal(size=(count, DIMENSIONS)).astype(np.float32)
    return unit(centers[rng.integers(0, CENTERS, count)] + SPREAD * noise)


def unit(vectors: Array) -> Array:
    """Return vectors of length 1."""
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def batches(entries: int) -> Iterator[pa.RecordBatch]:
    """Yield the entries as rows of memory.indexes, 1,000 in each episode."""
    for start in range(0, entries, BATCH):
        count = min(BATCH, entries - start)
        rng = np.random.default_rng(start + 3)
        numbers = np.arange(start, start + count)
        texts = SENTENCES[rng.integers(0, len(SENTENCES), count)]
        vectors = pa.FixedSizeListArray.from_arrays(draw_vectors(start, count).ravel(), DIMENSIONS)
        columns = {
            "episode_id": [f"e{number // 1000}" for number in numbers],
            "entry_id": [f"message-{number}" for number in numbers],
            "kind": ["message"] * count,
            "text": texts,
            "sources": [[f"m{number}"] for number in numbers],
            "since": numbers % 1000 + 1,
            "until": pa.nulls(count, pa.int64()),
            "role": ["user"] * count,
            "meta": ["{}"] * count,
        }
        arrays = [pa.array(columns[name], FIELDS[name]) for name in FIELDS]
        yield pa.RecordBatch.from_arrays(
            [*arrays, vectors.cast(pa.list_(pa.float32()))], names=[*FIELDS, "vector"]
        )


if __name__ == "__main__":
    sys.exit(main())
