"""Labels of results without a language model or without an embedding model. Every view of results shows the labels.

Where a score has no interval, `no_interval` is what stands in its place.
"""

from collections.abc import Iterable, Mapping

from memflow.chat.scripted import LABEL
from memflow.records import Score

HASHING = "hashing"
"""The name of the hashing embedder starts with this word, as in `hashing-256`."""
HASHED = "hashed embedder, not an embedding model"
"""The label of results of a language model with a memory that retrieves by the hashing embedder."""
HASHED_CAVEAT = "retrieval compares words, not meanings."


def score_label(scores: Iterable[Score]) -> str | None:
    """Return LABEL if any score used the scripted chat, HASHED if any used the hashing embedder, otherwise None."""
    return _label((score.scripted, score.embedder) for score in scores)


def meta_label(metas: Iterable[Mapping[str, str]]) -> str | None:
    """Return the label of verdicts or transcripts by the metadata of their partitions."""
    return _label((meta.get("scripted") == "yes", meta.get("embedder")) for meta in metas)


def caveat_of(label: str, scripted: str) -> str:
    """Return the caveat of results with a label; `scripted` is the caveat for the scripted chat."""
    return scripted if label == LABEL else HASHED_CAVEAT


def no_interval(score: Score) -> str:
    """Return why a value has no interval, such as `no interval: 2 episodes`; empty where it has one, or no value."""
    return f"no interval: {score.interval_reason}" if score.interval_reason else ""


def units_note(scores: Iterable[Score]) -> str | None:
    """Return the note on scores whose intervals are not over episodes; None where all are."""
    others: dict[str, dict[str, None]] = {}
    for score in scores:
        if score.interval_units not in (None, "episodes"):
            others.setdefault(str(score.interval_units), {})[score.metric] = None
    parts = [f"of {', '.join(metrics)} over {units}" for units, metrics in others.items()]
    return f"95 % intervals are over episodes, but {'; '.join(parts)}." if parts else None


def _label(sources: Iterable[tuple[bool, str | None]]) -> str | None:
    hashed = False
    for scripted, embedder in sources:
        if scripted:
            return LABEL
        hashed = hashed or (embedder or "").startswith(HASHING)
    return HASHED if hashed else None
