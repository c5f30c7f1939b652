"""MemoryBank's forgetting curve R = exp(-t / S) (Zhong et al. 2024), and the day of a date without its time.

Dates are free text (`1:56 pm on 8 May, 2023`, `2024年10月1日 8点13分`): they are compared as text, never parsed.
"""

import math
import re
from typing import Literal

from memflow.fingerprint import seeded

_CLOCK = re.compile(
    r"""
    (?:(?<=\d)T)?                                              # the T of 2024-10-01T08:13
    (?:
        \d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]\.?m\b\.?)?  # 08:13, 8:13:05 pm
      | \d{1,2}\s*[ap]\.?m\b\.?                               # 8 pm
      | (?:凌晨|早上|上午|中午|下午|晚上)?\s*\d{1,2}\s*[点时](?:\s*\d{1,2}\s*分)?(?:\s*\d{1,2}\s*秒)?
    )
    (?:\s*(?:Z\b|UTC|GMT|[+-]\d{2}:?\d{2}\b))?                # a zone
    (?:\s*on\b)?                                              # the on of 1:56 pm on 8 May
    """,
    re.VERBOSE | re.IGNORECASE,
)

Forgetting = Literal["none", "curve", "published_code"]


def retention(days: int, strength: int, coefficient: float, forgetting: Forgetting) -> float:
    """Return the probability that a memory is retained `days` after its last access, from 0 to 1.

    `curve` is exp(-days / (coefficient * strength)). `published_code` is what the code of MemoryBank, MemEngine and
    MemBench computes, exp(-days / coefficient * strength): stronger memories fade faster.
    """
    if forgetting == "none":
        return 1.0
    if forgetting == "curve":
        return math.exp(-days / (coefficient * strength))
    return math.exp(-days / coefficient * strength)


def uniform_draw(*parts: object) -> float:
    """Return a number in [0, 1) that depends on `parts` only, so that restored memories forget the same."""
    return seeded(*parts) / 2**63


def day_of(sent_at: str | None) -> str | None:
    """Return a date without its time, `8 May, 2023` for `1:56 pm on 8 May, 2023`, or None without a date."""
    if sent_at is None:
        return None
    return " ".join(_CLOCK.sub(" ", sent_at).replace("'", " ").split()).strip(" ,;") or None
