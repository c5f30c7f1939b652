"""The hashing embedder: reproducible unit vectors that are closer for similar texts."""

import subprocess
import sys

import numpy as np

from memflow.memories.hashing_embedder import HashingEmbedder

TEXTS = [
    "I adopted a puppy",
    "The puppies were adopted",
    "Interest rates rose",
    "我住在北京大学",
    "北京大学很大",
    "",
]


async def test_hashing_embedder_returns_unit_vectors_of_the_requested_size() -> None:
    for dimensions in (256, 7):
        vectors = await HashingEmbedder(dimensions).embed(TEXTS)
        assert vectors.shape == (len(TEXTS), dimensions) and vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert (await HashingEmbedder().embed([])).shape == (0, 256)


def test_hashing_vector_does_not_depend_on_process_and_hash_seed() -> None:
    code = (
        "import asyncio, hashlib; from memflow.memories.hashing_embedder import HashingEmbedder;"
        f"print(hashlib.sha256(asyncio.run(HashingEmbedder().embed({TEXTS!r})).tobytes()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
