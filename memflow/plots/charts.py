"""Charts of leaderboard scores by checkpoint, as plain data with captions. drawing.py draws them.

A chart accepts any curve over checkpoints, so curves that are not leaderboard scores can be drawn in the same way.
Charts of a single benchmark are in that benchmark's folder (plots.py).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from memflow.errors import BadInput
from memflow.labels import score_label
from memflow.plots.shapes import Bars, Chart, Curve, Drawable, Panel, Point, best_first
from memflow.records import BY_EVIDENCE, Score
from memflow.scoring.catalog import FAILURES as RATES
from memflow.scoring.catalog import RANDOM, UPPER_BOUND, find_metric
from memflow.scoring.failure_attributions import is_state_probe_score
from memflow.scoring.judges import STANDARD
from memflow.scoring.published_health import ALARMS, FAULTY, NOT_MEASURED, flagged, health_alarms

SLICE = re.compile(r"(period|checkpoint|cycle) (\d+)")
CYCLE = "cycle"
"""The slices of an evolution by episode, which are drawn by themselves."""
FAILURES = {each.name: each.title.lower().removesuffix(" failure") for each in RATES}
"""The failure rates in the order in which they are stacked, and their names in a legend."""

DRAWN = (
    *("accuracy", "memory_score", "failures", "factual_recall"),
    *("min_max", "cycles", "forgetting", "forward_transfer"),
)
"""The charts drawn by default: metrics, `failures`, and `cycles` (the accuracy of each cycle of an evolution)."""
VARIANTS = {
    BY_EVIDENCE: "; attributed by evidence",
    STANDARD: "",
    "pooled": "; measured against all that was run in the domain",
}
"""The variants that are drawn, the first that there is, and what captions say of them."""

BOUNDS = {each.name: each.title.lower() for each in (RANDOM, UPPER_BOUND)}
"""The dashed lines beside the accuracy: bounds that are the same for all memories of a model."""


def charts(scores: Sequence[Score], domain: str) -> dict[str, Chart | Bars]:
    """Return the default charts of one domain, by metric.

    Metrics with scores at fewer than two checkpoints are skipped, and `cycles` with fewer than two cycles.
    """
    of_domain = [score for score in scores if score.domain == domain]
    found: dict[str, Chart | Bars] = {}
    for metric in DRAWN:
        if len({score.slice for score in _shown(of_domain, *_metrics_of(metric))}) > 1:
            found[metric] = chart(of_domain, domain, metric)
    return found


def chart(scores: Iterable[Score], domain: str, metric: str) -> Chart | Bars:
    """Return the chart of a metric over the checkpoints of a domain; also of `failures`, and of `cycles` by cycle.

    Failures are drawn by evidence, else by state probes; other metrics in the standard variant, else pooled. Raises
    BadInput if the metric has no value at any checkpoint; the message lists the metrics that have values.
    """
    of_domain = [score for score in scores if score.domain == domain]
    metrics, cycles = _metrics_of(metric)
    shown = _shown(of_domain, metrics, cycles)
    if not shown:
        have = sorted(
            {
                score.metric
                for score in of_domain
                if score.value is not None and score.variant in VARIANTS and _is_of(score, cycles=False)
            }
        )
        fix = f"Use a metric with such scores: {', '.join(have)}" if have else "Use another domain"
        if not have and any(score.health == FAULTY for score in of_domain):
            fix = f"Memories are faulty, so {NOT_MEASURED}: `memflow show health {domain}`"
        raise BadInput(f"{domain} has no scores of {metric} per period. {fix}.")
    kind = _place(shown[0])[0]
    first = find_metric(shown[0].metric)
    name = "Failure rates" if metric == "failures" else first.title
    title = f"{name} by {kind}, {domain}"
    at = {_place(each)[1] for each in of_domain if each.metric in metrics and _is_of(each, cycles)}
    caption = _caption(shown, kind, at, drawn=metric != "failures", what=first.counts)
    x, places = kind.capitalize(), tuple(sorted(at))
    if metric == "failures":
        panels = tuple(_panels(shown))
        return Bars(title, x, "share of questions", places, panels, caption, what="failure")
    beside = _beside(of_domain) if metric == "accuracy" else ()
    y = next(iter(metrics)).replace("_", " ")
    return Chart(title, x, y, places, tuple(_curves(shown)), caption, beside)


def with_health_caption(picture: Drawable, scores: Iterable[Score]) -> Drawable:
    """Return a picture whose caption names the faulty and suspect assistants of the scores that it is drawn from."""
    alarms = health_alarms(scores)
    notes = [
        f"; {'faulty, so not measured' if state == FAULTY else state}: {', '.join(names)}"
        for state in ALARMS
        if (names := dict.fromkeys(alarm.assistant for alarm in alarms if alarm.state == state))
    ]
    return replace(picture, caption="".join((picture.caption, *notes)))


def _metrics_of(metric: str) -> tuple[Collection[str], bool]:
    """Return the metrics that the chart `metric` draws, and whether its x axis is the evolution cycle."""
    if metric == "cycles":
        return ("accuracy",), True
    return (tuple(FAILURES) if metric == "failures" else (metric,)), False


def _is_of(score: Score, cycles: bool) -> bool:
    """Return whether the slice of a score is an evolution cycle (if `cycles`) or a checkpoint (otherwise)."""
    place = SLICE.fullmatch(score.slice)
    return place is not None and (place[1] == CYCLE) == cycles


def _shown(scores: Iterable[Score], metrics: Iterable[str], cycles: bool = False) -> list[Score]:
    """Return the scores with a value at a checkpoint (at a cycle if `cycles`), of the first variant that has any."""
    wanted = set(metrics)
    found = [
        score
        for score in scores
        if score.metric in wanted and score.value is not None and _is_of(score, cycles)
    ]
    for variant in VARIANTS:
        if of_variant := [score for score in found if score.variant == variant]:
            return of_variant
    return []


def _place(score: Score) -> tuple[str, int]:
    kind, number = score.slice.rsplit(" ", 1)
    return kind, int(number)


def _point(score: Score) -> Point:
    return Point(_place(score)[1], score.value or 0.0, score.low, score.high)


def _curves(scores: Iterable[Score]) -> list[Curve]:
    """Return a curve for each assistant, in descending order of the average value."""
    by_assistant: dict[str, list[Score]] = {}
    for score in scores:
        by_assistant.setdefault(score.assistant, []).append(score)
    return best_first(
        Curve(
            flagged(name, rows),
            tuple(sorted(map(_point, rows), key=lambda point: point.at)),
            score_label(rows),
        )
        for name, rows in by_assistant.items()
    )


def _beside(scores: Sequence[Score]) -> tuple[Curve, ...]:
    """Return the curves of random accuracy and of each model's upper bound."""
    found = []
    models = list(dict.fromkeys(score.model for score in scores))
    for metric, name in BOUNDS.items():
        for model in models if metric == "upper_bound" else models[:1]:
            rows = {_place(each)[1]: each for each in _shown(scores, [metric]) if each.model == model}
            said = f"{name} of {model}" if metric == "upper_bound" and len(models) > 1 else name
            points = [Point(at, each.value or 0.0) for at, each in sorted(rows.items())]
            if points:
                found.append(Curve(said, tuple(points)))
    return tuple(found)


def _panels(scores: Iterable[Score]) -> list[Panel]:
    """Return a panel for each assistant, in ascending order of failures."""
    panels: dict[str, tuple[str | None, dict[str, dict[int, float]]]] = {}
    for score in scores:
        _, parts = panels.setdefault(
            flagged(score.assistant, [score]),
            (score_label([score]), {name: {} for name in FAILURES.values()}),
        )
        parts[FAILURES[score.metric]][_place(score)[1]] = score.value or 0.0
    found = [Panel(name, parts, label) for name, (label, parts) in panels.items()]
    return sorted(found, key=lambda panel: sum(sum(part.values()) for part in panel.parts.values()))


def _caption(scores: Sequence[Score], kind: str, at: AbstractSet[int], *, drawn: bool, what: str) -> str:
    """Return the caption: the numbers of probes and episodes, the kind of the intervals, and the checkpoints without a
    score.

    If the intervals are not `drawn`, the caption contains their maximum width.
    """
    said = f"{resting(scores, what)} a {kind}; {intervals(scores, drawn=drawn)}"
    said += "; attributed by state probes" if is_state_probe_score(scores[0]) else VARIANTS[scores[0].variant]
    lacking = sorted(at - {_place(each)[1] for each in scores})
    return f"{said}; no score at {kind} {', '.join(map(str, lacking))}" if lacking else said


def resting(scores: Sequence[Score], what: str = "probes") -> str:
    """Return the numbers of probes and episodes per score as text, such as `20 to 25 probes of 3 episodes`."""
    probes, episodes = ({each.n for each in scores}, {each.n_episodes for each in scores})
    return f"{_range(probes)} {what} of {_range(episodes)} episode{'' if episodes == {1} else 's'}"


def intervals(scores: Sequence[Score], *, drawn: bool = True) -> str:
    """Return a caption: how the intervals were computed and, if they are not drawn, their maximum width."""
    widths = [each.high - each.low for each in scores if each.low is not None and each.high is not None]
    reasons = list(dict.fromkeys(each.interval_reason for each in scores if each.interval_reason))
    if not widths:
        return f"no interval: {' or '.join(reasons)}" if reasons else "no interval"
    units = " and ".join(
        dict.fromkeys(each.interval_units or "episodes" for each in scores if each.low is not None)
    )
    wide = "" if drawn else f" are at most {max(widths):.2f} wide"
    return f"95 % intervals over {units}{wide}"


def _range(numbers: AbstractSet[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
