"""CPU time of writing a message and of reading a query as a memory grows: at 500, 5,000 and 50,000 messages.

Measures `full`, `bm25_message`, `bm25_session` and `rag_2_4_30` on texts drawn from a seed. Messages arrive in
dialogues of six, five dialogues per day. Each dialogue is searchable before the next one arrives. Every query follows a
new dialogue, so that no result is cached. `rag` uses the hashing embedder; memories_encoder.py measures a real encoder.

`bm25_message` is compared with Whoosh (one commit per dialogue) and with rank_bm25, whose index is rebuilt for each
dialogue since it cannot grow. Above 100 dialogues, only 24 evenly spread rebuilds are timed and the total is
extrapolated (`sampled`). The peers get words that are already split, to their advantage. `peer_of` is the peer's time
divided by memflow's. Whoosh at 50,000 messages takes some minutes: `--whole`.

    python -m bench memories_growth
    PYTHONPATH=.venv/peers python -m bench.memories_growth --whole

The command prints one JSON line per memory. `growth` is the time of a write divided by that at a tenth of the messages:
1 means linear in total. The exit code is 1 if it exceeds 1.25 from 5,000 to 50,000 messages. A quadratic cost would
give 10; the margin allows for noise and for CPU caches.
"""

import asyncio
import gc
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import pairwise
from typing import Any

from bench.measure import ROUNDS, report
from bench.memories_bm25 import DIALOGUE, K, draw_texts, whoosh
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Message, Tools
from memflow.memories.registry import memory_factory
from memflow.words import search_words

SIZES = (500, 5_000, 50_000)
QUERIES = 20
DAY = 30
BOUND = 1.25
SAMPLED = 24
NAMES = ("full", "bm25_message", "bm25_session", "rag_2_4_30")

Cost = dict[str, Any]


def main() -> int:
    """Print the CPU time per message. Return 1 if a write at 50,000 messages takes over 25 % longer than at 5,000."""
    texts, queries = draw_texts(SIZES[-1] + QUERIES * DIALOGUE, QUERIES)
    messages = [
        Message(f"{at}", "assistant" if at % 2 else "user", text, sent_at=f"day {at // DAY}")
        for at, text in enumerate(texts)
    ]
    # What is measured is the memory: what the bench itself holds is not to be searched for garbage with it.
    gc.collect()
    gc.freeze()
    missed = 0
    for name in NAMES:
        ours = minimum_of_rounds(name, messages, queries)
        growth = {
            f"{low} to {high}": round(ours[high]["write"] / ours[low]["write"], 2)
            for low, high in pairwise(SIZES)
        }
        line: dict[str, Any] = {"name": "memories_growth", "memory": name, "value": ours}
        line |= {"unit": "CPU microseconds", "growth": growth, "bound": BOUND}
        if name == "bm25_message":
            line |= measure_peers(ours, texts, queries)
        report(line)
        missed += list(growth.values())[-1] > BOUND
    return int(missed > 0)


def measure_memory(name: str, messages: Sequence[Message], size: int, queries: Sequence[str]) -> Cost:
    """Return the CPU microseconds of one memory per message written and per query read."""
    memory = memory_factory(name, Tools(embedder=HashingEmbedder()))(EntryStore())

    async def measured() -> Cost:
        began = time.process_time()
        for first in range(0, size, DIALOGUE):
            await write_dialogue(memory, messages[first : min(size, first + DIALOGUE)])
        write, read = time.process_time() - began, 0.0
        for number, query in enumerate(queries):
            await write_dialogue(memory, messages[size + number * DIALOGUE :][:DIALOGUE])
            began = time.process_time()
            await memory.read(query)
            read += time.process_time() - began
        return in_microseconds(write / size, read / len(queries))

    return asyncio.run(measured())


async def write_dialogue(memory: Memory, dialogue: Sequence[Message]) -> None:
    """Write a dialogue to a memory, and update the memory's search index."""
    memory.store.advance(len(dialogue))
    await memory.write(dialogue)
    if index := getattr(memory, "index", None):
        index.follow()


def measure_peers(ours: dict[int, Cost], texts: Sequence[str], queries: Sequence[str]) -> dict[str, Any]:
    """Return the CPU times of rank_bm25 and Whoosh by number of messages, and these times divided by memflow's."""
    import rank_bm25
    import whoosh as library

    sizes = SIZES if "--whole" in sys.argv else SIZES[:-1]
    peers: dict[str, dict[int, Cost]] = {
        f"rank_bm25 {version('rank-bm25')}": {
            size: measure_rank_bm25(rank_bm25.BM25Okapi, texts[:size], queries) for size in SIZES
        },
        f"Whoosh {library.versionstring()}": {size: of_whoosh(texts[:size], queries) for size in sizes},
    }
    ratios = {
        peer: {
            size: {what: round(theirs[what] / ours[size][what], 1) for what in ("write", "read")}
            for size, theirs in costs.items()
        }
        for peer, costs in peers.items()
    }
    return {"peers": peers, "peer_of": ratios}


def measure_rank_bm25(okapi: Callable[..., Any], texts: Sequence[str], queries: Sequence[str]) -> Cost:
    """Return the CPU microseconds of rank_bm25 per message written (with index rebuilds) and per query read."""
    began = time.process_time()
    words = [search_words(f"user: {text}") for text in texts]
    cut = time.process_time() - began
    ends = [min(len(texts), end + DIALOGUE) for end in range(0, len(texts), DIALOGUE)]
    sampled = len(ends) > 100
    timed = [ends[int((at + 0.5) * len(ends) / SAMPLED)] for at in range(SAMPLED)] if sampled else ends
    began = time.process_time()
    for end in timed:
        okapi(words[:end])
    write = cut + (time.process_time() - began) / len(timed) * len(ends)
    index = okapi(words)
    began = time.process_time()
    for query in queries:
        index.get_top_n(search_words(query), texts, K)
    read = time.process_time() - began
    return in_microseconds(write / len(texts), read / len(queries)) | {"sampled": sampled}


def of_whoosh(texts: Sequence[str], queries: Sequence[str]) -> Cost:
    write, read, _ = whoosh(list(texts), list(queries))
    return in_microseconds(write / 1e6, read / 1e6)


def in_microseconds(write: float, read: float) -> Cost:
    """Return the seconds of a write and of a read as microseconds."""
    return {"write": round(write * 1e6, 1), "read": round(read * 1e6, 1)}


def minimum_of_rounds(name: str, messages: Sequence[Message], queries: Sequence[str]) -> dict[int, Cost]:
    """Return the minimum of each measurement over the rounds.

    A round measures every size, so that a slow period of the machine affects all sizes.
    """
    rounds = [{size: measure_memory(name, messages, size, queries) for size in SIZES} for _ in range(ROUNDS)]
    return {
        size: {what: min(each[size][what] for each in rounds) for what in ("write", "read")} for size in SIZES
    }


if __name__ == "__main__":
    sys.exit(main())
