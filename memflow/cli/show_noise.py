"""`memflow show noise`: the deviation of scores between repeats, and the variance that each source contributes."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, heading, note, table
from memflow.cli.profiles import variant_chooser
from memflow.cli.stored_names import check_names
from memflow.labels import caveat_of, score_label

if TYPE_CHECKING:
    from memflow.metrics.chi_square import Deviation
    from memflow.metrics.variance import Component
    from memflow.records import Score
    from resources.publishing.noise import MetricNoise

NOT_MEASURED = "not measured"
MEANING = (
    "\nSD: standard deviation, with its 95 % chi-square interval (df: degrees of freedom). of score: part of the "
    "variance of the score of one evaluation. More episodes reduce every part; more repeats only those of play, "
    "answers and judge. docs/how-to/noise.md explains both tables."
)
ADVICE = "No repeats are stored. Measure the noise with `memflow run --repeats 3`."


def noise(
    ctx: typer.Context,
    domain: Annotated[str | None, typer.Argument(metavar="DOMAIN", help="Of this domain. [all]")] = None,
    form: FormatOption = Format.text,
) -> None:
    """Show how noisy scores are: their deviation between repeats, and its sources.

    The sources are episodes, questions, play, answers and judge. A source that no repeats measure is "not measured":
    `memflow run --repeats N` repeats answers; `repeats_of` in memflow.toml is what it repeats: answers, run or judge.
    """
    from memflow.scoring.catalog import find_metric
    from memflow.scoring.primary import primary_scores
    from resources.publishing.noise import domain_noise

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    facts = lake.facts("score.leaderboard", "all")
    scores: list[Score] = lake.read("score.leaderboard", "all") if facts is not None else []
    domains = {name: settings.domain(name) for name in dict.fromkeys(score.domain for score in scores)}
    if domain is not None:
        check_names("the leaderboard", "domain", [domain], domains)
        domains = {domain: domains[domain]}
    shown = primary_scores(
        (score for score in scores if score.domain in domains),
        lambda name: domains[name].benchmark,
        variant_chooser(settings),
    )
    noisy = [
        score
        for score in shown
        if score.noise is not None and find_metric(score.metric).direction != "neither"
    ]
    found = {name: [*domain_noise(each, lake)] for name, each in domains.items()}
    label = score_label(shown)
    parts: list[RenderableType] = []
    for name, metrics in found.items():
        parts += [heading(name), *_scores([score for score in noisy if score.domain == name])]
        parts += [_components(each) for each in metrics]
    if parts:
        parts.append(note(MEANING))
    if not noisy:
        parts.append(note(ADVICE))
    if label:
        caveat = caveat_of(label, "its noise shows that the pipeline works; it measures no model.")
        parts.append(Text(f"\n{label}: {caveat}", "yellow"))
    data = {
        "label": label,
        "scores": [asdict(score) for score in noisy],
        "components": [_plain(each) for metrics in found.values() for each in metrics],
    }
    answer(form, data, *parts)


def _scores(scores: "Sequence[Score]") -> list[RenderableType]:
    """Return the table of the deviations between repeats of a domain's primary scores; empty without repeats."""
    rows = [
        [
            score.metric,
            score.assistant,
            score.repeats_of,
            score.repeats,
            score.value,
            score.repeat_mean,
            f"{score.noise:.4f}",
            _interval(score.noise_low, score.noise_high),
            score.noise_degrees,
        ]
        for score in scores
    ]
    columns = [
        "metric",
        "assistant",
        "repeats of",
        "evaluations",
        "first",
        "mean",
        "SD",
        "95 % interval",
        "df",
    ]
    title = "Scores between repeats; the deviation is pooled over assistants"
    return [table(title, columns, rows, right=columns[3:])] if rows else []


def _components(found: "MetricNoise") -> RenderableType:
    total = sum(each.of_score or 0.0 for each in found.components)
    rows: list[list[Any]] = []
    for component in found.components:
        deviation = component.deviation
        if deviation is None:
            rows.append([component.name, NOT_MEASURED, "", "", "", component.note])
            continue
        share = f"{component.of_score / total:.0%}" if component.of_score is not None and total else ""
        rows.append(
            [
                component.name,
                f"{deviation.value:.4f}",
                _interval(deviation.low, deviation.high),
                _degrees(deviation),
                share,
                component.note,
            ]
        )
    columns = ["source", "SD", "95 % interval", "df", "of score", "note"]
    basis = (
        f"{len(found.assistants)} assistants, {found.questions:,} questions in {found.episodes:,} episodes"
    )
    repeats = "".join(f", {number} evaluations of {kind}" for kind, number in found.repeats.items())
    return table(f"\n{found.metric}: {basis}{repeats}", columns, rows, right=columns[1:5])


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.4f} – {high:.4f}"


def _degrees(deviation: "Deviation") -> str:
    """Return degrees of freedom as text; below 1 there is no interval."""
    return f"{deviation.degrees:.0f}" if deviation.degrees >= 1 else "< 1" if deviation.degrees else ""


def _plain(found: "MetricNoise") -> dict[str, Any]:
    return {**found._asdict(), "components": [_plain_component(each) for each in found.components]}


def _plain_component(component: "Component") -> dict[str, Any]:
    deviation = component.deviation
    return {
        "source": component.name,
        "measured": deviation is not None,
        "sd": None if deviation is None else deviation.value,
        "low": None if deviation is None else deviation.low,
        "high": None if deviation is None else deviation.high,
        "degrees": None if deviation is None else deviation.degrees,
        "variance_of_score": component.of_score,
        "note": component.note,
    }
