"""The forgetting curve of MemoryBank (Zhong et al. 2024, after Ebbinghaus): R = exp(-t / S)."""

import math
from typing import Literal

from memflow.fingerprint import seeded

Forgetting = Literal["none", "curve", "published_code"]


def retention(days: int, strength: int, coefficient: float, forgetting: Forgetting) -> float:
    """How likely a memory is still held `days` after it was last recalled, from 0 to 1.

    `curve` is exp(-days / (coefficient * strength)): the stronger, the longer. `published_code` is what the code of
    MemoryBank, MemEngine and MemBench computes, exp(-days / coefficient * strength): the stronger, the shorter.
    """
    if forgetting == "none":
        return 1.0
    if forgetting == "curve":
        return math.exp(-days / (coefficient * strength))
    return math.exp(-days / coefficient * strength)


def drawn(*parts: object) -> float:
    """A number from 0 up to 1 that depends on `parts` alone: what is forgotten is the same whenever it is read."""
    return seeded(*parts) / 2**63
