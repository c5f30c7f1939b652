"""`memflow show noise`: the deviation of scores between repeats."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType

from memflow.cli.evidence import label_note
from memflow.cli.front import front_of
from memflow.cli.options import AnyDomainArgument
from memflow.cli.output import Columns, Format, FormatOption, answer, heading, interval_text, note, table_of
from memflow.labels import score_label
from memflow.operations.stored_names import check_names, variant_chooser

if TYPE_CHECKING:
    from memflow.records import Score

MEANING = (
    "\nSD: standard deviation, with its 95 % chi-square interval (df: degrees of freedom). "
    "docs/how-to/judges.md explains the table."
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
    """Show how noisy scores are: their deviation between repeats.

    `memflow run --repeats N` repeats answers; `repeats_of` in memflow.toml is what it repeats: answers, run or judge.
    """
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
    title = "Scores between repeats; SD is pooled over assistants"
    parts: list[RenderableType] = []
    for name in domains:
        if rows := [score for score in noisy if score.domain == name]:
            parts += [heading(name), table_of(rows, DEVIATIONS, title)]
    label = score_label(primary)
    answer(
        form,
        {"label": label, "scores": [asdict(score) for score in noisy]},
        *parts,
        *([note(MEANING)] if parts else []),
        *([note(ADVICE)] if not noisy else []),
        *label_note(label, "its noise shows that the pipeline works; it measures no model."),
    )
