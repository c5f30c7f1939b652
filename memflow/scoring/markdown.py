"""The leaderboard as Markdown: one table per domain, best assistant first, with a bounded length.

primary.py selects and orders the scores.
"""

from collections.abc import Iterable, Mapping, Sequence

from memflow.control_characters import visible
from memflow.labels import score_label, score_notes
from memflow.records import BY_EVIDENCE, Score
from memflow.scoring.catalog import find_metric
from memflow.scoring.completeness import incomplete_results
from memflow.scoring.failure_attributions import NAMES, contradictions, failure_scores
from memflow.scoring.judges import STANDARD
from memflow.scoring.noise_labels import noise_text
from memflow.scoring.primary import ranked_assistants
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, flagged, health_alarms

MOST_DOMAINS = 40
MOST_ASSISTANTS = 25
"""Assistants that a table shows; a line below it counts the others."""
ATTRIBUTIONS = {"Failures by evidence": BY_EVIDENCE, "Failures by state probes": STANDARD}
_ESCAPED = str.maketrans({letter: f"\\{letter}" for letter in "\\`*[]<>|~"} | {"\n": " "})


def leaderboard_markdown(scores: Iterable[Score]) -> str:
    """Return scores as Markdown: a section with tables and notes for each of the first MOST_DOMAINS domains.

    `scores` are primary scores, of which a row has the rank, the assistant, each metric with its 95 % interval, and n,
    and failure rates, which have tables of their own: by evidence, then by state probes.
    """
    by_domain: dict[str, list[Score]] = {}
    for score in scores:
        by_domain.setdefault(score.domain, []).append(score)
    domains = list(by_domain)
    parts = [_section(domain, by_domain[domain]) for domain in domains[:MOST_DOMAINS]]
    if len(domains) > MOST_DOMAINS:
        parts.append(f"{len(domains) - MOST_DOMAINS:,} more domains: `memflow show leaderboard`")
    return "\n\n".join(parts) or "no scores"


def _section(domain: str, scores: Sequence[Score]) -> str:
    """Return the section of one domain: its table, its failure tables, and notes."""
    failures = [(title, failure_scores(scores, variant)) for title, variant in ATTRIBUTIONS.items()]
    contradictory = contradictions(scores)
    scores = [score for score in scores if score.metric not in NAMES]
    metrics = list(dict.fromkeys(score.metric for score in scores))
    ranked_scores = ranked_assistants(scores)
    titles = [find_metric(name).title for name in metrics]
    rows = []
    for position, (assistant, by_metric) in enumerate(ranked_scores[:MOST_ASSISTANTS], start=1):
        values = [_value(by_metric.get(name)) for name in metrics]
        if _is_faulty(by_metric):
            values = [NOT_MEASURED, *("" for _ in metrics[1:])]
        rows.append(
            [_rank(by_metric, position), flagged(assistant, by_metric.values()), *values, _count(by_metric)]
        )
    table = markdown_table(["rank", "assistant", *titles, "n"], rows, right=["rank", *titles, "n"])
    notes = []
    if len(ranked_scores) > MOST_ASSISTANTS:
        hidden_count = len(ranked_scores) - MOST_ASSISTANTS
        notes.append(
            f"{hidden_count:,} more assistants: `memflow show leaderboard --domain {domain} --limit 0`"
        )
    if label := score_label(scores):
        notes.append(f"Label: {label}")
    notes += score_notes(scores)
    notes += [f"{alarm.state.capitalize()}: {escape(alarm.line)}" for alarm in health_alarms(scores)]
    notes += [f"Incomplete: {escape(line)}" for line in incomplete_results(scores)]
    order = [assistant for assistant, _ in ranked_scores[:MOST_ASSISTANTS]]
    tables = [_failure_table(title, order, rates) for title, rates in failures if rates]
    notes += [escape(sentence) for sentence in contradictory]
    return "\n".join([f"**{escape(domain)}**", "", table, *tables, *(f"\n{note}" for note in notes)])


def _failure_table(title: str, assistants: Sequence[str], scores: Sequence[Score]) -> str:
    """Return a titled table of the failure rates of assistants, without faulty ones."""
    rates = {(score.assistant, score.metric): score for score in scores}
    rows = []
    for assistant in assistants:
        by_metric = {name: rates[assistant, name] for name in NAMES if (assistant, name) in rates}
        if by_metric and not _is_faulty(by_metric):
            rows.append(
                [flagged(assistant, by_metric.values()), *(_value(by_metric.get(name)) for name in NAMES)]
            )
    titles = [find_metric(name).title for name in NAMES]
    return f"\n{title}\n\n{markdown_table(['assistant', *titles], rows, right=titles)}"


def _value(score: Score | None) -> str:
    """Return a value with its interval and noise as text; empty without a score."""
    if score is None:
        return ""
    if score.value is None:
        return "none"
    metric = find_metric(score.metric)
    digits = ",.0f" if metric.unit == "tokens" else ".3f"
    value = f"{score.value:{digits}}"
    if metric.group in ("bound", "failure"):
        return value
    if score.low is not None and score.high is not None:
        interval = f"[{score.low:{digits}}, {score.high:{digits}}]"
    else:
        interval = "(no interval)" if score.interval_reason else ""
    return " ".join(text for text in (value, interval, noise_text(score)) if text)


def _rank(by_metric: Mapping[str, Score], position: int) -> str:
    """Return the range of ranks that the data leave open; the place in the table where no score has a range.

    A faulty assistant has no rank.
    """
    if _is_faulty(by_metric):
        return ""
    for score in by_metric.values():
        if score.rank_low is None or score.rank_high is None:
            continue
        if score.rank_low == score.rank_high:
            return str(score.rank_low)
        return f"{score.rank_low}–{score.rank_high}"
    return str(position)


def _is_faulty(by_metric: Mapping[str, Score]) -> bool:
    return any(score.health == FAULTY for score in by_metric.values())


def _count(by_metric: Mapping[str, Score]) -> str:
    quality_scores = [score for score in by_metric.values() if find_metric(score.metric).group != "bound"]
    score = next(iter(quality_scores or by_metric.values()))
    planned = "" if score.planned is None or score.n >= score.planned else f" of {score.planned:,}"
    return f"{score.n:,}{planned}"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[str] = ()) -> str:
    """Return a table of texts in Markdown. The columns named in `right` contain numbers."""
    numbers = {*right}
    rule = "".join("--:|" if column in numbers else "---|" for column in columns)
    lines = [f"| {' | '.join(map(escape, cells))} |" for cells in rows]
    return "\n".join([f"| {' | '.join(columns)} |", f"|{rule}", *lines])


class Escaped(str):
    """Text that `escape` leaves as it is."""


def escape(text: str) -> str:
    """Return text for a Markdown table: without control characters, line feeds and markup."""
    return text if isinstance(text, Escaped) else visible(text).translate(_ESCAPED)
