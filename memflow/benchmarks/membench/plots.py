"""MemBench's plot: accuracy over tokens (figure 5)."""

from collections.abc import Sequence
from itertools import pairwise

from memflow.benchmarks.membench.capacity import CAPACITY, IN_ALL, is_curve, tokens_of
from memflow.benchmarks.views import Plots
from memflow.labels import score_label
from memflow.metrics.knee import GROUPS
from memflow.plots.charts import intervals, resting
from memflow.plots.shapes import Chart, Curve, Point, best_first
from memflow.records import Score

FEWEST = GROUPS
"""Trajectories that a point rests on, at least: fewer say nothing of a fall."""
AXES = {
    "standard": ("capacity", "tokens said from the evidence on", "Accuracy since the evidence"),
    IN_ALL: ("capacity_in_all", "tokens said in all", "Accuracy by all that was said"),
}
"""The ways of counting tokens: the picture's name, and what its axis and its title say."""


def capacity_charts(scores: Sequence[Score], domain: str) -> dict[str, Chart]:
    """Return a chart for each way of counting tokens, by name; empty if the domain has no curve over tokens."""
    found = {}
    for variant, (name, axis, title) in AXES.items():
        own = [score for score in scores if score.domain == domain and score.variant == variant]
        chart = _chart(own, axis, f"{title}, {domain}")
        if chart is not None:
            found[name] = chart
    return found


def _chart(scores: Sequence[Score], axis: str, title: str) -> Chart | None:
    curve = [one for one in scores if is_curve(one) and one.n_episodes >= FEWEST and one.value is not None]
    shown = [one for one in curve if one.metric == "accuracy"]
    if not shown:
        return None
    at = tuple(sorted({tokens_of(score) for score in shown}))
    names = dict.fromkeys(score.assistant for score in shown)
    curves = [_curve(name, [one for one in shown if one.assistant == name]) for name in names]
    knees = [one for one in scores if one.metric == CAPACITY and one.assistant in names]
    width = at[0] if len(at) == 1 else min(after - before for before, after in pairwise(at))
    said = f"a point is the {width:,} tokens up to it: {resting(shown)}; {intervals(shown)}"
    caption = f"{said}. {_knees_note(knees)}"
    chance = {tokens_of(one): one.value or 0.0 for one in curve if one.metric == "random"}
    points = tuple(Point(place, value) for place, value in sorted(chance.items()))
    beside = (Curve("chance", points),) if points else ()
    return Chart(title, axis, "accuracy", at, tuple(best_first(curves)), caption, beside)


def _curve(name: str, scores: Sequence[Score]) -> Curve:
    points = [Point(tokens_of(score), score.value or 0.0, score.low, score.high) for score in scores]
    return Curve(name, tuple(sorted(points, key=lambda point: point.at)), score_label(scores))


def _knees_note(knees: Sequence[Score]) -> str:
    """Return a text that states the knee of each assistant's curve, and which assistants have no knee."""
    there = [
        f"{knee.assistant} at {knee.value:,.0f} ({knee.low:,.0f} to {knee.high:,.0f})"
        for knee in knees
        if knee.value is not None and knee.low is not None and knee.high is not None
    ]
    none = [one.assistant for one in knees if one.value is None]
    said = [f"Knee: {', '.join(there)}"] if there else []
    return "; ".join([*said, *([f"no knee: {', '.join(none)}"] if none else [])])


PLOTS = Plots(lambda reader, domain: capacity_charts(reader.scores(), domain))
