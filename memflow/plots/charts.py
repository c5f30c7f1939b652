"""Charts of leaderboard scores by checkpoint or by tokens, as plain data with captions. drawing.py draws them.

A chart accepts any curve over checkpoints, so curves that are not leaderboard scores can be drawn in the same way.
"""

import re
from collections.abc import Collection, Iterable, Sequence
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

SLICE = re.compile(r"(period|checkpoint|cycle|tokens) (\d+)")
CYCLE = "cycle"
"""The slices of an evolution by episode, which are drawn by themselves."""
FAILURES = {rate.name: rate.title.lower().removesuffix(" failure") for rate in RATES}
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

BOUNDS = {bound.name: bound.title.lower() for bound in (RANDOM, UPPER_BOUND)}
"""The dashed lines beside the accuracy: bounds that are the same for all memories of a model."""


def charts(scores: Sequence[Score], domain: str) -> dict[str, Chart | Bars]:
    """Return the default charts of one domain, by metric.

    Metrics with scores at fewer than two checkpoints are skipped, and `cycles` with fewer than two cycles.
    """
    of_domain = [score for score in scores if score.domain == domain]
    return {
        metric: chart(of_domain, domain, metric)
        for metric in DRAWN
        if len({score.slice for score in _shown(of_domain, metric)}) > 1
    }


def chart(scores: Iterable[Score], domain: str, metric: str) -> Chart | Bars:
    """Return the chart of a metric over the checkpoints of a domain; also of `failures`, and of `cycles` by cycle.

    Failures are drawn by evidence, else by state probes; other metrics in the standard variant, else pooled. Raises
    BadInput if the metric has no value at any checkpoint; the message lists the metrics that have values.
    """
    of_domain = [score for score in scores if score.domain == domain]
    shown = _shown(of_domain, metric)
    if not shown:
        drawable = {
            score.metric
            for score in of_domain
            if score.value is not None and score.variant in VARIANTS and _place(score)[0] not in ("", CYCLE)
        }
        fix = (
            f"Use a metric with such scores: {', '.join(sorted(drawable))}"
            if drawable
            else "Use another domain"
        )
        if not drawable and any(score.health == FAULTY for score in of_domain):
            fix = f"Memories are faulty, so {NOT_MEASURED}: `memflow show health {domain}`"
        raise BadInput(f"{domain} has no scores of {metric} per period. {fix}.")
    kind = _place(shown[0])[0]
    drawn = find_metric(shown[0].metric)
    title = f"{'Failure rates' if metric == 'failures' else drawn.title} by {kind}, {domain}"
    places = tuple(sorted({_place(score)[1] for score in _of_metric(of_domain, metric)}))
    caption = _caption(shown, kind, places, with_widths=metric == "failures", what=drawn.counts)
    x = kind.capitalize()
    if metric == "failures":
        return Bars(title, x, "share of questions", places, tuple(_panels(shown)), caption, what="failure")
    beside = _beside(of_domain) if metric == "accuracy" else ()
    y = shown[0].metric.replace("_", " ")
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


def _of_metric(scores: Iterable[Score], metric: str) -> list[Score]:
    """Return the scores that the chart `metric` draws: those at checkpoints, or at the cycles of an evolution."""
    names = FAILURES if metric == "failures" else {"accuracy" if metric == "cycles" else metric}
    of_metric = [score for score in scores if score.metric in names and _place(score)[0]]
    return [score for score in of_metric if (_place(score)[0] == CYCLE) == (metric == "cycles")]


def _shown(scores: Iterable[Score], metric: str) -> list[Score]:
    """Return the scores with a value that the chart `metric` draws, of the first variant that has any."""
    measured = [score for score in _of_metric(scores, metric) if score.value is not None]
    of_variants = ([score for score in measured if score.variant == variant] for variant in VARIANTS)
    return next(filter(None, of_variants), [])


def _place(score: Score) -> tuple[str, int]:
    """Return the kind and the number of a score's slice, such as ("period", 2); ("", 0) for another slice."""
    place = SLICE.fullmatch(score.slice)
    return (place[1], int(place[2])) if place else ("", 0)


def _curves(scores: Sequence[Score]) -> list[Curve]:
    """Return a curve for each assistant, in descending order of the average value."""
    curves = []
    for assistant in dict.fromkeys(score.assistant for score in scores):
        rows = [score for score in scores if score.assistant == assistant]
        points = [Point(_place(row)[1], row.value or 0.0, row.low, row.high) for row in rows]
        in_order = tuple(sorted(points, key=lambda point: point.at))
        curves.append(Curve(flagged(assistant, rows), in_order, score_label(rows)))
    return best_first(curves)


def _beside(scores: Sequence[Score]) -> tuple[Curve, ...]:
    """Return the curves of random accuracy and of each model's upper bound."""
    curves = []
    models = list(dict.fromkeys(score.model for score in scores))
    for metric, name in BOUNDS.items():
        by_model = metric == UPPER_BOUND.name
        for model in models if by_model else models[:1]:
            values = {
                _place(row)[1]: row.value or 0.0 for row in _shown(scores, metric) if row.model == model
            }
            title = f"{name} of {model}" if by_model and len(models) > 1 else name
            if values:
                curves.append(Curve(title, tuple(Point(at, value) for at, value in sorted(values.items()))))
    return tuple(curves)


def _panels(scores: Iterable[Score]) -> list[Panel]:
    """Return a panel for each assistant, in ascending order of failures."""
    panels: dict[str, Panel] = {}
    for score in scores:
        name = flagged(score.assistant, [score])
        parts: dict[str, dict[int, float]] = {part: {} for part in FAILURES.values()}
        panel = panels.setdefault(name, Panel(name, parts, score_label([score])))
        panel.parts[FAILURES[score.metric]][_place(score)[1]] = score.value or 0.0
    return sorted(panels.values(), key=lambda panel: sum(sum(part.values()) for part in panel.parts.values()))


def _caption(
    scores: Sequence[Score], kind: str, places: Collection[int], *, with_widths: bool, what: str
) -> str:
    """Return the caption: the numbers of probes and episodes, the intervals, and the checkpoints without a score.

    Where the intervals are not drawn, the caption has their maximum width.
    """
    caption = f"{resting(scores, what)} a {kind}; {intervals(scores, drawn=not with_widths)}"
    caption += (
        "; attributed by state probes" if is_state_probe_score(scores[0]) else VARIANTS[scores[0].variant]
    )
    missing = sorted({*places} - {_place(score)[1] for score in scores})
    return f"{caption}; no score at {kind} {', '.join(map(str, missing))}" if missing else caption


def resting(scores: Sequence[Score], what: str = "probes") -> str:
    """Return the numbers of probes and episodes per score as text, such as `20 to 25 probes of 3 episodes`."""
    probes, episodes = {score.n for score in scores}, {score.n_episodes for score in scores}
    return f"{_range(probes)} {what} of {_range(episodes)} episode{'' if episodes == {1} else 's'}"


def intervals(scores: Sequence[Score], *, drawn: bool = True) -> str:
    """Return a caption: how the intervals were computed and, if they are not drawn, their maximum width."""
    bounded = [score for score in scores if score.low is not None and score.high is not None]
    if not bounded:
        reasons = dict.fromkeys(score.interval_reason for score in scores if score.interval_reason)
        return f"no interval: {' or '.join(reasons)}" if reasons else "no interval"
    units = " and ".join(dict.fromkeys(score.interval_units or "episodes" for score in bounded))
    widest = max((score.high or 0.0) - (score.low or 0.0) for score in bounded)
    return f"95 % intervals over {units}" + ("" if drawn else f" are at most {widest:.2f} wide")


def _range(numbers: Collection[int]) -> str:
    return " to ".join(map(str, dict.fromkeys((min(numbers), max(numbers)))))
