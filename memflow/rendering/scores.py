"""The scores of a domain's primary metrics as a table: one row per assistant, and one column per metric."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType

from memflow.benchmarks.protocol_settings import STANDARD
from memflow.labels import sample_label, score_label, score_notes
from memflow.operations.stored_names import variant_chooser
from memflow.records import Comparison, Score
from memflow.rendering.evidence import CAVEAT, count, label_note, warnings
from memflow.rendering.tables import FittedTable, Text, table
from memflow.rendering.texts import heading, note
from memflow.scoring.catalog import find_metric
from memflow.scoring.noise_labels import noise_text
from memflow.scoring.primary import primary_scores, ranked_assistants
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, flagged

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings


def leaderboard_table(scores: Sequence[Score], winners: Mapping[str, str] | None = None) -> FittedTable:
    """Return the primary scores of a domain as a table: one row per assistant, best first, and one column per metric.

    The head of a column with another variant than `standard` contains the variant. `winners` has the assistant whose
    value is bold, by metric.
    """
    variants = {score.metric: f"_({score.variant})" for score in scores if score.variant != STANDARD}
    metrics = list(dict.fromkeys(score.metric for score in scores))
    names = [(metric + variants.get(metric, "")).replace("_", "\n") for metric in metrics]
    rows = []
    for assistant, row in ranked_assistants(scores):
        if any(score.health == FAULTY for score in row.values()):
            cells = [Text(NOT_MEASURED), *(Text() for _ in metrics[1:])]
        else:
            cells = [
                Text(cell(row.get(metric)), "bold" if (winners or {}).get(metric) == assistant else "")
                for metric in metrics
            ]
        rows.append([flagged(assistant, row.values()), *cells, *_counts(row)])
    return table(["assistant", *names, "n", "covered"], rows)


def leaderboard_parts(
    settings: "Settings",
    scores: Sequence[Score],
    compared: Iterable[Comparison] = (),
    *,
    is_chosen: bool = False,
) -> Iterator[RenderableType]:
    """Yield the table of each domain, with what qualifies its scores: the primary ones, or all if they were chosen.

    With the comparisons in `compared`, the value of a clear winner is bold.
    """
    benchmarks = {score.domain: settings.domain(score.domain).benchmark for score in scores}
    shown = scores if is_chosen else primary_scores(scores, benchmarks.__getitem__, variant_chooser(settings))
    for domain in dict.fromkeys(score.domain for score in shown):
        of_domain = [score for score in shown if score.domain == domain]
        yield heading(" · ".join([domain, *sample_label(domain)]))
        yield leaderboard_table(of_domain, winners(of_domain, compared))
        yield from map(note, score_notes(of_domain))
        differing = [
            f"{row.assistant} ({row.differing_settings})" for row in of_domain if row.differing_settings
        ]
        yield from [note(f"Settings that differ: {', '.join(dict.fromkeys(differing))}")] * bool(differing)
        yield from warnings([score for score in scores if score.domain == domain])
        yield from label_note(score_label(of_domain), CAVEAT)


def winners(scores: Iterable[Score], compared: Iterable[Comparison]) -> dict[str, str]:
    """Return the clear winner of one domain by metric: better than each other assistant, and not by noise alone.

    The memories `oracle` and `previous`, which read the gold, have no part.
    """
    better = {
        (row.domain, row.metric, row.variant, *((row.a, row.b) if row.better == "a" else (row.b, row.a)))
        for row in compared
        if row.slice == "all" and row.better is not None and not row.within_noise
    }
    rivals: dict[tuple[str, str, str], list[str]] = {}
    for score in scores:
        if score.value is not None and score.assistant.partition("@")[0] not in ("oracle", "previous"):
            rivals.setdefault((score.domain, score.metric, score.variant), []).append(score.assistant)
    return {
        key[1]: name
        for key, names in rivals.items()
        for name in names
        if len(names) > 1 and all((*key, name, other) in better for other in names if other != name)
    }


def _counts(row: Mapping[str, Score]) -> tuple[str, str]:
    """Return the numbers of values behind the measured scores of an assistant, and the smallest coverage.

    A metric of which nothing was measured shows `none` in its column and has no part in these numbers.
    """
    scores = [score for score in row.values() if find_metric(score.metric).group != "bound"]
    measured = [score for score in scores if score.n] or scores or [*row.values()]
    counts = dict.fromkeys(count(score) for score in measured)
    return "/".join(counts), f"{min(score.coverage for score in measured):.0%}"


def cell(score: Score | None) -> str:
    """Return a score as text: the value with its interval, or `none` without a value. Tokens are whole numbers.

    `score_notes` has the reason of a missing interval.

    Metrics of the groups `bound` and `failure` are shown without intervals.
    """
    if score is None:
        return "-"
    if score.value is None:
        return "none"
    metric = find_metric(score.metric)
    value, ends = (",.0f", ",.0f") if metric.unit == "tokens" else (".3f", ".2f")
    if metric.group in ("bound", "failure"):
        return f"{score.value:{value}}"
    if score.low is None or score.high is None:
        interval = "(no interval)" if score.interval_reason else ""
    else:
        interval = f"[{score.low:{ends}} {score.high:{ends}}]"
    return " ".join(filter(None, (f"{score.value:{value}}", interval, noise_text(score))))
