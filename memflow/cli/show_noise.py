"""`memflow show noise`: the deviation of scores between repeats, and the variance that each source contributes."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.options import AnyDomainArgument
from memflow.cli.output import Format, FormatOption, answer
from memflow.labels import score_label
from memflow.operations.stored_names import check_names, variant_chooser
from memflow.rendering.evidence import label_note
from memflow.rendering.tables import Columns, table_of
from memflow.rendering.texts import heading, interval_text, note

if TYPE_CHECKING:
    from memflow.metrics.variance import Component
    from memflow.records import Score
    from memflow.resources.publishing.noise import MetricNoise

MEANING = (
    "\nSD: standard deviation, with its 95 % chi-square interval (df: degrees of freedom). of score: part of the "
    "variance of the score of one evaluation. More episodes reduce every part; more repeats only those of play, "
    "answers and judge. docs/how-to/judges.md explains both tables."
)
ADVICE = "No repeats are stored. Measure the noise with `memflow run --repeats 3`."
DEVIATIONS: Columns = {
    "metric": "metric",
    "assistant": "assistant",
    "repeats of": "repeats_of",
    "evaluations": "repeats",
    "first": "value",
    "mean": "repeat_mean",
    "own SD": lambda score: f"{score.repeat_deviation:.4f}",
    "SD": lambda score: f"{score.noise:.4f}",
    "95 % interval": lambda score: interval_text(score.noise_low, score.noise_high, ".4f"),
    "df": "noise_degrees",
}


def noise(ctx: typer.Context, domain: AnyDomainArgument = None, form: FormatOption = Format.table) -> None:
    """Show how noisy scores are: their deviation between repeats, and its sources.

    The sources are episodes, questions, play, answers and judge. A source that no repeats measure is "not measured":
    `memflow run --repeats N` repeats answers; `repeats_of` in memflow.toml is what it repeats: answers, run or judge.
    """
    from memflow.resources.publishing.noise import domain_noise
    from memflow.scoring.catalog import find_metric
    from memflow.scoring.primary import primary_scores

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    scores: list[Score] = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    domains = {name: settings.domain(name) for name in dict.fromkeys(score.domain for score in scores)}
    if domain is not None:
        check_names("the leaderboard", "domain", [domain], domains)
        domains = {domain: domains[domain]}
    primary = primary_scores(
        (score for score in scores if score.domain in domains),
        lambda name: domains[name].benchmark,
        variant_chooser(settings),
    )
    noisy = [
        score
        for score in primary
        if score.noise is not None and find_metric(score.metric).direction != "neither"
    ]
    sources = {name: [*domain_noise(of, lake)] for name, of in domains.items()}
    title = "Scores between repeats; SD is pooled over assistants"
    parts: list[RenderableType] = []
    for name, metrics in sources.items():
        rows = [score for score in noisy if score.domain == name]
        parts += [heading(name), *([table_of(rows, DEVIATIONS, title)] if rows else [])]
        parts += [_sources(of_metric) for of_metric in metrics]
    label = score_label(primary)
    answer(
        form,
        {
            "label": label,
            "scores": [asdict(score) for score in noisy],
            "components": [
                {**metric._asdict(), "components": [*map(_data, metric.components)]}
                for metrics in sources.values()
                for metric in metrics
            ],
        },
        *parts,
        *([note(MEANING)] if parts else []),
        *([note(ADVICE)] if not noisy else []),
        *label_note(label, "its noise shows that the pipeline works; it measures no model."),
    )


def _sources(metric: "MetricNoise") -> RenderableType:
    """Return the table of the sources of a metric's variance.

    With less than one degree of freedom there is no interval.
    """
    total = sum(component.of_score or 0.0 for component in metric.components)
    rows = []
    for component in metric.components:
        row = _data(component)
        degrees, share = row["degrees"], row["variance_of_score"]
        rows.append(
            {
                "source": component.name,
                "SD": "not measured" if row["sd"] is None else f"{row['sd']:.4f}",
                "95 % interval": interval_text(row["low"], row["high"], ".4f"),
                "df": "" if not degrees else "< 1" if degrees < 1 else f"{degrees:.0f}",
                "of score": "" if share is None or not total else f"{share / total:.0%}",
                "note": component.note,
            }
        )
    repeats = "".join(f", {number} evaluations of {kind}" for kind, number in metric.repeats.items())
    questions = f"{metric.questions:,} questions in {metric.episodes:,} episodes"
    return table_of(
        rows, [*rows[0]], f"\n{metric.metric}: {len(metric.assistants)} assistants, {questions}{repeats}"
    )


def _data(component: "Component") -> dict[str, Any]:
    sd, low, high, degrees = component.deviation or (None, None, None, None)
    return {
        "source": component.name,
        "measured": sd is not None,
        "sd": sd,
        "low": low,
        "high": high,
        "degrees": degrees,
        "variance_of_score": component.of_score,
        "note": component.note,
    }
