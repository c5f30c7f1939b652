"""Separation of a model's thoughts from its answer where the content contains both, between delimiters.

Thoughts in separate fields are read by resources/endpoints/replies.py.
"""

import re
from typing import NamedTuple


class SplitContent(NamedTuple):
    """The two parts of a content. `complete` is False if a thought is not closed, so that the answer is missing."""

    answer: str
    thoughts: str
    complete: bool = True


def split_thoughts(content: str, tags: tuple[str, str]) -> SplitContent:
    """Return the answer and the thoughts of a content. `tags` are the opening and the closing delimiter.

    A chat template may write the opening delimiter into the prompt. Text before a closing delimiter without an opening
    one is therefore a thought. An empty delimiter does not occur.
    """
    opening, closing = tags
    answer: list[str] = []
    thoughts: list[str] = []
    thinking = False
    delimiters = "|".join(re.escape(tag) for tag in tags if tag)
    for piece in re.split(f"({delimiters})", content) if delimiters else [content]:
        if piece and piece == opening:
            thinking = True
        elif piece and piece == closing:
            if not thinking:
                thoughts += answer
                answer = []
            thinking = False
        else:
            (thoughts if thinking else answer).append(piece)
    return SplitContent("".join(answer).strip(), "".join(thoughts).strip(), not thinking)
