"""How the scripted chat reads a question's options in what it was shown. No model, and no gold.

It knows word for word alone: an option that stands in a line which speaks of what is asked. Where no option stands
anywhere, the one of whose words most are in one line; where nothing was shown, none.
"""

from collections.abc import Sequence

from memflow.words import search_words


def best_options(shown: str, question: str, options: Sequence[str]) -> list[int]:
    """The options, by index, that speak most for themselves in what was shown; all of them where none does."""
    lines = [line for line in shown.split("\n") if line.strip()]
    asked = set(search_words(question))
    words = [set(search_words(line)) for line in lines]
    relevance = [len(asked & held) for held in words]
    plain = [_plain(line) for line in lines]
    scores: list[tuple[float, float]] = []
    for option in options:
        said, own = _plain(option), set(search_words(option))
        verbatim = [near for near, line in zip(relevance, plain, strict=True) if said and said in line]
        covered = [
            (len(own & held) / len(own), near) for held, near in zip(words, relevance, strict=True) if own
        ]
        share, near = max(covered, default=(0.0, 0))
        scores.append((1.0 + max(verbatim), 1.0) if verbatim else (share, near / (1 + len(asked))))
    best = max(scores, default=(0.0, 0.0))
    return [at for at, score in enumerate(scores) if score == best]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。")
