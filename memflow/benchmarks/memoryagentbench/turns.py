"""A text as messages: one chunk each, with fixed times. A text is an episode, and its end the only checkpoint.

The published code puts the time of the run into each chunk, so that no two runs have the same input. Here the first
chunk comes at START, and each other one minute after the one before it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from memflow.benchmarks.memoryagentbench.config import MemoryAgentBenchConfig
from memflow.benchmarks.memoryagentbench.load import PublishedRow
from memflow.records import Turn
from memflow.tokens import estimate

START = datetime(2026, 1, 5, 9, 0)
INSTRUCTION = "Memorize the following part of a longer text. You will be asked about it later.\n\n"
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


def make_turns(domain: str, row: PublishedRow, config: MemoryAgentBenchConfig) -> Iterator[Turn]:
    """Yield the chunks of a text in order, each a message of the user that arrives alone."""
    for number, chunk in enumerate(chunks(row.context, config.chunk_tokens)):
        yield Turn(
            domain=domain,
            episode_id=row.name,
            checkpoint=0,
            event=number,
            position=0,
            message_id=f"{row.name}/chunk{number}",
            kind="given",
            role="user",
            text=(INSTRUCTION if config.instruction else "") + chunk,
            sent_at=f"{START + timedelta(minutes=number):%Y-%m-%d %H:%M}",
        )


def chunks(text: str, tokens: int) -> list[str]:
    """Return a text in chunks of at most `tokens` estimated tokens, or its lines if `tokens` is 0.

    A chunk ends after a line, or after a sentence of a line that is too long. A longer sentence is a chunk of its own.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not tokens:
        return lines
    pieces = [
        (sentence, "\n" if last else " ") for line in lines for sentence, last in _sentences(line, tokens)
    ]
    found: list[list[tuple[str, str]]] = []
    used = 0
    for piece in pieces:
        size = estimate(piece[0]) + 1
        if not found or used + size > tokens:
            found.append([])
            used = 0
        found[-1].append(piece)
        used += size
    return ["".join(sentence + end for sentence, end in chunk).rstrip() for chunk in found]


def _sentences(line: str, tokens: int) -> Sequence[tuple[str, bool]]:
    sentences = [line] if estimate(line) < tokens else _SENTENCE.split(line)
    return [(sentence, number == len(sentences) - 1) for number, sentence in enumerate(sentences)]
