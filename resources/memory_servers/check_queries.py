"""The queries of `memflow memories check` in several styles: keywords, questions, long ones, digits, scripts."""

from collections.abc import Iterator, Sequence
from itertools import cycle

from memflow.resources.memory_servers.check_conversation import PADDING, CheckMessage
from memflow.resources.memory_servers.concentration import Phrases, Traits

QUERIES, QUERIES_OF_SCRIPT = 24, 6
MARKS = {"accents": ["é"], "emoji": ["🙂"]}
WORDS = (4, 8, 12, 16, 24, 40, 60)
"""Lengths of queries in words."""
QUERY_PHRASES: Phrases = {
    "words": ("queries of more than {} words", "queries of at most {} words"),
    "digits": ("queries with digits", "queries without digits"),
    "question": ("questions", "queries that are no questions"),
    "ascii": ("queries in ASCII", "queries with characters outside ASCII"),
    "script": ("queries in {} script", "queries not in {} script"),
}


def queries_for(messages: Sequence[CheckMessage]) -> Iterator[tuple[CheckMessage, str, Traits]]:
    """Yield queries with the words of messages: message, query and traits."""
    latin = [message for message in messages if message.kind == "statement"] or [*messages]
    for number, message in zip(range(QUERIES), cycle(latin), strict=False):
        length = WORDS[number % len(WORDS)]
        for query in (
            message.query,
            f"What did I say about {message.query}?",
            " ".join([*message.words[:2], *message.text.split(), *PADDING][:length]),
            f"{message.query} 2031",
        ):
            yield message, query, _traits(message, query)
    for script in ("Chinese", "Cyrillic", "Arabic", "accents", "emoji"):
        others = [message for message in messages if message.kind == script]
        for number, message in zip(range(QUERIES_OF_SCRIPT), cycle(others), strict=False):
            words = message.words[:2] if number < len(others) else reversed(message.words[:2])
            query = " ".join([*words, *MARKS.get(script, ())])
            yield message, query, _traits(message, query)


def _traits(message: CheckMessage, query: str) -> Traits:
    words = query.split()
    return {
        "words": len(words),
        "digits": any(letter.isdigit() for letter in query),
        "question": query.endswith("?"),
        "ascii": query.isascii(),
        "script": message.script,
    }
