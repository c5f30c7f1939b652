"""MemoryBench's plots: times (figure 4), scores by partition, and noise (figures 13 and 14).

memflow/plots/charts.py draws curves over steps.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.domains import FORMATS
from memflow.benchmarks.memorybench.partitions import STANDARD, Cell, cells, partitions, pooled_cells
from memflow.benchmarks.memorybench.times import Times
from memflow.benchmarks.memorybench.views.times import measured_domains, measured_times
from memflow.benchmarks.views import Pictures, Plots, Reader
from memflow.labels import score_label
from memflow.plots.charts import intervals, resting
from memflow.plots.shapes import Bars, Chart, Columns, Curve, Panel, Point, best_first
from memflow.records import Score
from memflow.scoring.published_health import FAULTY

NOISES = {
    "noise": "standard deviation of the noise on satisfaction, in points",
    "like_midpoint": "S0_L, the satisfaction at which half of the likes are pressed",
}
"""The parameters by which users are made noisy (paper, A.3.9), and how an axis names them."""


def time_bars(times: Sequence[Times], title: str) -> Bars | None:
    """Return bars of memory and predict time per assistant, one panel per task format; None without measurements.

    If a format was measured in several domains, the first domain is shown.
    """
    domains: dict[str, str] = {}
    for row in times:
        if row.predict_s is not None:
            domains.setdefault(row.format, row.domain)
    rows = [row for row in times if domains.get(row.format) == row.domain]
    if not domains:
        return None
    assistants = tuple(dict.fromkeys(row.assistant for row in rows))
    panels = []
    for format_ in domains:
        by_place = {assistants.index(row.assistant): row for row in rows if row.format == format_}
        parts = {
            "memory": {at: row.memory_s for at, row in by_place.items() if row.memory_s is not None},
            "predict": {at: row.predict_s for at, row in by_place.items() if row.predict_s is not None},
        }
        panels.append(
            Panel(format_, parts, next((row.label for row in by_place.values() if row.label), None))
        )
    dialogues, cases = (_range([row.dialogues for row in rows]), _range([row.cases for row in rows]))
    caption = (
        f"a bar rests on so many dialogues and cases: {dialogues}, {cases}; "
        "recorded seconds of models, and a memory's own computing"
    )
    places = tuple(range(len(assistants)))
    return Bars(
        title, "", "seconds per case", places, tuple(panels), caption, place_names=assistants, what="time"
    )


def partition_columns(cells: Sequence[Cell]) -> Columns | None:
    """Return a chart of each assistant's min-max scores by paper partition, or None without scores.

    A domain without scores on the published scale is shown with pooled scores, which the column label states.
    """
    relative = {cell.domain for cell in cells if cell.variant == STANDARD and _has_value(cell)}
    order = dict.fromkeys(cell.domain for cell in cells)
    cells = [cell for cell in cells if (cell.variant == STANDARD) == (cell.domain in relative)]
    shown = [(cell, cell.min_max) for cell in cells if cell.min_max is not None]
    shown = [(cell, score) for cell, score in shown if score.value is not None]
    if not shown:
        return None
    measured = {cell.domain for cell, _ in shown}
    domains = [name for name in order if name in measured]
    partition = {cell.domain: cell.partition for cell in cells}
    names = [partition[name] for name in domains]
    labels = [
        (name if names.count(name) == 1 else domain) + ("" if domain in relative else "\npooled")
        for name, domain in zip(names, domains, strict=True)
    ]
    scores = [score for _, score in shown]
    curves = _curves(scores, {name: float(at) for at, name in enumerate(domains)})
    lacking = len(cells) - len(shown)
    missing = f"; {lacking} without a score: see `memflow show partitions`" if lacking else ""
    caption = f"{resting(scores)} a column; {intervals(scores)}{missing}"
    return Columns("Min-max scores by partition", "min-max score", tuple(labels), curves, caption)


def _has_value(cell: Cell) -> bool:
    return cell.min_max is not None and cell.min_max.value is not None


def noise_charts(scores: Sequence[Score], domains: Iterable[Domain]) -> dict[str, Chart]:
    """Return charts by name, one for each set of domains that differ only in the noise of their users.

    A chart shows min-max scores if all domains have them relative to published scores. Scores relative to the
    assistants of each domain are not comparable. Otherwise it shows the metric with most probes among the metrics of
    all domains.
    """
    found: dict[str, Chart] = {}
    for parameter, group in _differing(domains):
        chart = _noise_chart(scores, parameter, group)
        if chart is not None:
            first = group[min(group)]
            found[f"{parameter}_{first.name}"] = chart
    return found


def _differing(domains: Iterable[Domain]) -> Iterator[tuple[str, Mapping[float, Domain]]]:
    """Yield each noise parameter with a mapping of its values to domains that differ in this parameter only."""
    every = [domain for domain in domains if domain.benchmark == "memorybench"]
    for parameter in NOISES:
        alike: dict[str, dict[float, Domain]] = {}
        for domain in every:
            values = parameters_of(domain).model_dump(mode="json")
            at = (values if parameter in values else values["actions"]).pop(parameter)
            key = json.dumps([values, domain.datasets, domain.seed, domain.limit], sort_keys=True)
            alike.setdefault(key, {}).setdefault(at, domain)
        for group in alike.values():
            if len(group) > 1:
                yield parameter, group


def _noise_chart(scores: Sequence[Score], parameter: str, domains: Mapping[float, Domain]) -> Chart | None:
    place = {domain.name: at for at, domain in domains.items()}
    own = [
        score
        for score in scores
        if score.domain in place
        and score.variant == "standard"
        and score.slice == "all"
        and score.value is not None
    ]
    metric = _metric(own, len(place))
    if metric is None:
        return None
    shown = [score for score in own if score.metric == metric]
    curves = _curves(shown, place)
    first = domains[min(domains)]
    name = metric.replace("_", " ")
    title = f"{name.capitalize()} with noisy users, {first.name} and {len(place) - 1} like it"
    caption = f"{resting(shown)} a point; {intervals(shown)}"
    return Chart(title, NOISES[parameter], name, tuple(sorted(domains)), curves, caption)


def _metric(scores: Sequence[Score], domains: int) -> str | None:
    """Return the metric of a chart: min-max if all domains have the scores, else the most frequent common metric."""
    by_metric: dict[str, list[Score]] = {}
    for score in scores:
        by_metric.setdefault(score.metric, []).append(score)
    everywhere = {
        metric: sum(score.n for score in group)
        for metric, group in by_metric.items()
        if len({score.domain for score in group}) == domains
    }
    if "min_max" in everywhere:
        return "min_max"
    return max(everywhere, key=lambda metric: everywhere[metric], default=None)


def _curves(scores: Sequence[Score], place: Mapping[str, float]) -> tuple[Curve, ...]:
    """Return one curve per assistant, best first. `place` maps each domain to its position on the axis."""
    points: dict[str, list[Point]] = {}
    own: dict[str, list[Score]] = {}
    for score in sorted(scores, key=lambda score: place[score.domain]):
        point = Point(place[score.domain], score.value or 0.0, score.low, score.high)
        points.setdefault(score.assistant, []).append(point)
        own.setdefault(score.assistant, []).append(score)
    return tuple(
        best_first([Curve(name, tuple(each), score_label(own[name])) for name, each in points.items()])
    )


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _times(reader: Reader, names: Sequence[str], title: str) -> Pictures:
    faulty = {(score.domain, score.assistant) for score in reader.scores() if score.health == FAULTY}
    times = measured_times(reader, [one for one in measured_domains(reader) if one.name in names])
    bars = time_bars([row for row in times if (row.domain, row.assistant) not in faulty], title)
    return {} if bars is None else {"times": bars}


def _of_domain(reader: Reader, domain: str) -> Pictures:
    return _times(reader, [domain], f"Time consumption, {domain}")


def _over_domains(reader: Reader) -> Pictures:
    scores = reader.scores()
    domains = reader.domains(dict.fromkeys(score.domain for score in scores))
    own = partitions(domains)
    columns = partition_columns([*cells(scores, own), *pooled_cells(scores, own)])
    formats = [one.name for one in partitions(domains) if parameters_of(one).partition in FORMATS]
    return {
        **({} if columns is None else {"partitions": columns}),
        **_times(reader, formats, "Time consumption by task format"),
        **noise_charts(scores, domains),
    }


PLOTS = Plots(_of_domain, _over_domains)
