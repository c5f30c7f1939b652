"""The stub server's prefix cache: which beginning of a prompt a server such as vLLM has computed before."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Any

BLOCK_TOKENS = 16
"""Tokens of a block, the unit of the cache, as in vLLM."""
BLOCK_CHARACTERS = 4 * BLOCK_TOKENS


class PrefixCache:
    """An LRU cache of at most `capacity` blocks. A block is identified by its text and all text before."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._blocks: OrderedDict[bytes, None] = OrderedDict()

    def add(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Add the blocks of a prompt. Return the number of tokens at its beginning that were cached already."""
        text = "\n".join(f"{message.get('role')}: {message.get('content')}" for message in messages)
        parts = (
            text[start : start + BLOCK_CHARACTERS].encode("utf-8", "surrogatepass")
            for start in range(0, len(text) - BLOCK_CHARACTERS + 1, BLOCK_CHARACTERS)
        )
        chain = list(accumulate(parts, lambda before, part: blake2b(before + part).digest(), initial=b""))[1:]
        hits = next((number for number, block in enumerate(chain) if block not in self._blocks), len(chain))
        for block in reversed(chain):  # so that the end of a prompt is removed before its beginning
            self._blocks[block] = None
            self._blocks.move_to_end(block)
        while len(self._blocks) > self._capacity:
            self._blocks.popitem(last=False)
        return hits * BLOCK_TOKENS
