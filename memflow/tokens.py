"""An estimate of how many tokens a text has, without a tokenizer file: the same for every memory, so comparable.

Real counts come from the server (`prompt_tokens`). Here: a Chinese, Japanese or Korean character is a token, and four
other characters are one.
"""

import re

WIDE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
"""Characters that are a token each, as ranges of a regular expression."""

_WIDE = re.compile(f"[{WIDE}]")


def estimate(text: str) -> int:
    """Estimated number of tokens of `text`."""
    return -(-quarters(text) // 4)


def quarters(text: str) -> int:
    """Estimated quarters of a token: unlike tokens, those of two texts add up to those of both together."""
    return len(text) + 3 * len(_WIDE.findall(text))
