"""An estimate of token counts that needs no tokenizer and is the same for every memory.

Each Chinese, Japanese or Korean character counts as one token; four other characters count as one token. Exact counts
come from the server (`prompt_tokens`).
"""

import math
import re

MOST_PER_ESTIMATE = 1.4
"""The most tokens of a tokenizer for one estimated token: 1.37 were measured, for short English messages with names and
dates and a vocabulary of 49,152 tokens; larger vocabularies need fewer."""
PER_MESSAGE = 6
"""The most tokens that a chat template adds to a message."""

WIDE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
"""Characters that count as one token each, as ranges of a regular expression."""

_WIDE = re.compile(f"[{WIDE}]")


def estimate(text: str) -> int:
    """Return the estimated number of tokens of `text`, rounded up."""
    return -(-quarters(text) // 4)


def most(estimated: float, messages: int = 0) -> int:
    """Return the most tokens that messages with this estimate may have at a server."""
    return math.ceil(MOST_PER_ESTIMATE * estimated) + PER_MESSAGE * messages


def quarters(text: str) -> int:
    """Return the estimated number of quarter tokens of `text`. Such estimates of several texts can be added."""
    return len(text) if text.isascii() else len(text) + 3 * len(_WIDE.findall(text))
