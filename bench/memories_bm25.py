"""BM25 as a memory, compared with Whoosh as MemoryBench uses it: CPU time per message written and per query read.

5,000 messages arrive in dialogues of six. Each dialogue is searchable before the next one arrives. Then 500 queries
follow, k = 5. The texts are the first turns and questions of LoCoMo if MEMFLOW_DATA contains them, otherwise drawn from
a seed with a Zipf vocabulary. Whoosh is opened once for all queries, to its advantage. `overlap` is the mean share of
Whoosh's five results that memflow finds too. Whoosh has other stop words, parses question marks as wildcards, and
counts documents of its newest segments separately.

Only this benchmark needs Whoosh:

    uv pip install --target FOLDER whoosh==2.7.4 && PYTHONPATH=FOLDER python bench/memories_bm25.py

The command prints one JSON line, and its exit code is 1 if a ratio is below 20.
"""

import asyncio
import json
import random
import sys
import tempfile
from itertools import accumulate

from bench.measure import cpu_seconds, published, report
from memflow.fingerprint import seeded
from memflow.memories.memory import Message
from memflow.memories.retrieval import Lexical

MESSAGES, QUERIES, DIALOGUE, K = 5_000, 500, 6, 5
BOUND = 20.0
LOCOMO = "locomo/locomo10.json"

SearchResults = list[list[str]]


def draw_texts(messages: int = MESSAGES, asked: int = QUERIES) -> tuple[list[str], list[str]]:
    """Return texts and queries drawn from a seed. The n-th of 20,000 words has a probability proportional to 1 / n."""
    chance = random.Random(seeded("bench", "memories_bm25"))
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(20_000)]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))

    def text(low: int, high: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(low, high)))

    return [text(5, 40) for _ in range(messages)], [text(6, 14) for _ in range(asked)]


def real_texts() -> tuple[list[str], list[str], str]:
    """Return the first turns of LoCoMo, random questions and the source; random texts if LoCoMo is missing."""
    path = published(LOCOMO)
    if path is None:
        return *draw_texts(), "drawn"
    talks = json.loads(path.read_text(encoding="utf-8"))
    texts = [
        f"{turn['speaker']}: {turn['text']}"
        for talk in talks
        for name, session in talk["conversation"].items()
        if isinstance(session, list)
        for turn in session
    ]
    questions = [qa["question"] for talk in talks for qa in talk["qa"]]
    return texts[:MESSAGES], random.Random(seeded("bench", "questions")).sample(questions, QUERIES), "locomo"


def ours(texts: list[str], queries: list[str]) -> tuple[float, float, SearchResults]:
    """Return the CPU microseconds of `bm25_message` per message written and per query read, and its search results."""
    messages = [Message(str(number), "user", text) for number, text in enumerate(texts)]
    memory = Lexical(k=K)

    async def write() -> None:
        for first in range(0, len(messages), DIALOGUE):
            dialogue = messages[first : first + DIALOGUE]
            memory.store.advance(len(dialogue))
            await memory.write(dialogue)
            memory.index.follow()

    async def read() -> SearchResults:
        return [list((await memory.read(query)).sources) for query in queries]

    write_s, _ = cpu_seconds(lambda: asyncio.run(write()))
    read_s, found = cpu_seconds(lambda: asyncio.run(read()))
    return write_s / len(texts) * 1e6, read_s / len(queries) * 1e6, found


def whoosh(texts: list[str], queries: list[str]) -> tuple[float, float, SearchResults]:
    """Return the CPU microseconds of Whoosh per message written and per query read, and its search results."""
    from whoosh.analysis import StandardAnalyzer
    from whoosh.fields import ID, TEXT, Schema
    from whoosh.index import create_in
    from whoosh.qparser import OrGroup, QueryParser
    from whoosh.scoring import BM25F

    schema = Schema(
        doc_id=ID(stored=True, unique=True), content=TEXT(stored=True, analyzer=StandardAnalyzer())
    )
    with tempfile.TemporaryDirectory() as folder:
        index = create_in(folder, schema)

        def write() -> None:
            for first in range(0, len(texts), DIALOGUE):
                writer = index.writer()
                for number in range(first, min(first + DIALOGUE, len(texts))):
                    writer.add_document(doc_id=str(number), content=f"user: {texts[number]}")
                writer.commit()

        def read() -> SearchResults:
            parser = QueryParser("content", index.schema, group=OrGroup)
            with index.searcher(weighting=BM25F(B=0.75, K1=1.2)) as searcher:
                return [
                    [hit["doc_id"] for hit in searcher.search(parser.parse(query), limit=K)]
                    for query in queries
                ]

        write_s, _ = cpu_seconds(write)
        read_s, found = cpu_seconds(read)
    return write_s / len(texts) * 1e6, read_s / len(queries) * 1e6, found


def main() -> int:
    """Print the CPU times of memflow and Whoosh.

    Return 1 if Whoosh takes less than 20 times as long as memflow, 2 if Whoosh is not installed, else 0.
    """
    try:
        import whoosh as peer
    except ImportError:
        print("Whoosh is not installed; see the head of this file", file=sys.stderr)
        return 2
    texts, queries, source = real_texts()
    write_us, read_us, found = ours(texts, queries)
    peer_write_us, peer_read_us, peer_found = whoosh(texts, queries)
    ratio = {"write": peer_write_us / write_us, "read": peer_read_us / read_us}
    shared = [len(set(a) & set(b)) / max(1, len(b)) for a, b in zip(found, peer_found, strict=True)]
    report(
        {"name": "memories_bm25", "value": {"write": round(write_us, 1), "read": round(read_us, 1)}},
        unit="CPU microseconds per message",
        peer={
            "name": f"Whoosh {peer.versionstring()}",
            "write": round(peer_write_us, 1),
            "read": round(peer_read_us, 1),
        },
        ratio={name: round(value, 1) for name, value in ratio.items()},
        at_least=BOUND,
        texts=source,
        overlap=round(sum(shared) / len(shared), 3),
    )
    return 0 if min(ratio.values()) >= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
