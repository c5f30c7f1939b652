"""Labels of results without a language model or without an embedding model. Every view of results shows the labels.

Where a score has no interval, `no_interval` is what stands in its place.
"""

from collections.abc import Iterable, Mapping, Sequence

from memflow.benchmarks.domain_names import DomainName
from memflow.chat.scripted import LABEL
from memflow.records import Score
from memflow.scoring.catalog import catalog, find_metric
from memflow.scoring.published_health import ALARMS, FAULTY
from memflow.scoring.scripted import SCRIPTED_JUDGE

HASHING = "hashing"
"""The name of the hashing embedder starts with this word, as in `hashing-256`."""
HASHED = "hashed embedder, not an embedding model"
"""The label of results of a language model with a memory that retrieves by the hashing embedder."""
JUDGED = "judged by the scripted chat, not by a language model"
"""The label of results of a language model whose replies a scripted chat judged."""
HASHED_CAVEAT = "retrieval compares words, not meanings."
JUDGED_CAVEAT = "judged values follow a rule, and measure no model."
MOST_NAMES = 4
"""How many assistants a label names; more are counted."""


def score_label(scores: Iterable[Score]) -> str | None:
    """Return the labels of scores by what was used for them; None without a label.

    Where a label holds for some of the assistants only, it names them.
    """
    by_assistant: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        by_assistant.setdefault((score.domain, score.assistant), []).append(score)
    labels = {key: _label_of(of_assistant) for key, of_assistant in by_assistant.items()}
    one_domain = len({domain for domain, _ in labels}) == 1
    found = []
    for label in dict.fromkeys(label for label in labels.values() if label):
        keys = [key for key, its_label in labels.items() if its_label == label]
        names = [assistant if one_domain else f"{domain}/{assistant}" for domain, assistant in keys]
        named = ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} assistants"
        found.append(label if len(names) == len(labels) else f"{label}: {named}")
    return "; ".join(found) or None


def meta_label(metas: Iterable[Mapping[str, str]]) -> str | None:
    """Return the label of verdicts or transcripts by their partitions' metadata; None if they need no label."""
    metas = list(metas)
    if any(meta.get("scripted") == "yes" for meta in metas):
        return LABEL
    if any(meta.get(SCRIPTED_JUDGE) == "yes" for meta in metas):
        return JUDGED
    return HASHED if any(_hashed(meta.get("embedder")) for meta in metas) else None


def caveat_of(label: str, scripted: str) -> str:
    """Return the caveat of results with a label; `scripted` is the caveat for the scripted chat."""
    if LABEL in label:
        return scripted
    return JUDGED_CAVEAT if JUDGED in label else HASHED_CAVEAT


def score_qualifiers(score: Score, others: Iterable[Score] = ()) -> list[str]:
    """Return what qualifies a score: scripted or hashed, a sample, health, missing data, and why it has no value.

    `others` are scores of the same assistant, which show whether a scripted chat answered, or judged alone.
    """
    stated = (
        score_label([score, *others] if score.scripted else [score]),
        *sample_label(score.domain),
        score.health if score.health in ALARMS else None,
        score.incomplete and f"incomplete: {score.incomplete}",
        f"no value: {score.reason or 'unknown reason'}" if score.value is None else None,
    )
    return [label for label in stated if label]


def sample_label(domain: str) -> list[str]:
    """Return the label of a domain that is a sample; empty for a whole one."""
    limit = DomainName.parse(domain).limit
    return [f"sample of {limit}"] if limit else []


def no_interval(score: Score) -> str:
    """Return why a value has no interval, such as `no interval: 2 episodes`; empty where it has one, or no value."""
    return f"no interval: {score.interval_reason}" if score.interval_reason else ""


def score_notes(scores: Sequence[Score]) -> list[str]:
    """Return the notes below a table of scores: what intervals are over, and why values or intervals are missing."""
    notes = (units_note(scores), missing_intervals_note(scores), missing_values_note(scores))
    return [text for text in notes if text]


def units_note(scores: Iterable[Score]) -> str | None:
    """Return the note on scores whose intervals are not over episodes; None where all are."""
    others: dict[str, dict[str, None]] = {}
    for score in scores:
        if score.interval_units not in (None, "episodes"):
            others.setdefault(str(score.interval_units), {})[score.metric] = None
    parts = [f"of {', '.join(metrics)} over {units}" for units, metrics in others.items()]
    return f"95 % intervals are over episodes, but {'; '.join(parts)}." if parts else None


def missing_intervals_note(scores: Iterable[Score]) -> str | None:
    """Return the note on values that have no interval, with the reasons; None where all have one."""
    shown = [score for score in scores if find_metric(score.metric).group not in ("bound", "failure")]
    return _reasons_note("No interval", ((score.metric, score.interval_reason) for score in shown))


def missing_values_note(scores: Iterable[Score]) -> str | None:
    """Return the note on missing values, with the reasons; None without any. A faulty memory has its own."""
    missing = [score for score in scores if score.value is None and score.health != FAULTY]
    return _reasons_note("No value", ((score.metric, score.reason) for score in missing))


def _reasons_note(what: str, reasons: Iterable[tuple[str, str | None]]) -> str | None:
    """Return a note that lists the metrics by reason."""
    metrics_by_reason: dict[str, dict[str, None]] = {}
    for metric, reason in reasons:
        if reason:
            metrics_by_reason.setdefault(reason, {})[metric] = None
    parts = [f"{', '.join(metrics)} ({reason})" for reason, metrics in metrics_by_reason.items()]
    return f"{what}: {'; '.join(parts)}." if parts else None


def _label_of(scores: Iterable[Score]) -> str | None:
    """Return the label of one assistant's scores.

    Metrics differ where the recall or the judge alone is scripted (memflow/scoring/scripted.py). If a score of the
    answers is not scripted, then the others are by their judge.
    """
    scores = list(scores)
    if any(score.scripted for score in scores):
        return LABEL if all(score.scripted for score in scores if not _of_recall(score)) else JUDGED
    return HASHED if any(_hashed(score.embedder) for score in scores) else None


def _of_recall(score: Score) -> bool:
    metric = catalog().get(score.metric.partition("[")[0])
    return metric is not None and metric.group == "evidence"


def _hashed(embedder: str | None) -> bool:
    return (embedder or "").startswith(HASHING)
