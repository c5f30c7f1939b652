"""`memflow show noise`: the deviation of scores between the repeats of an evaluation."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from memflow.cli.options import AnyDomainArgument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.labels import score_label
from memflow.operations.stored_names import check_names, variant_chooser
from memflow.rendering.evidence import label_note
from memflow.rendering.tables import Columns, table_of
from memflow.rendering.texts import heading, interval_text, note

if TYPE_CHECKING:
    from memflow.records import Score

MEANING = (
    "\nSD: standard deviation between repeats, pooled over assistants, with its 95 % chi-square interval (df: degrees "
    "of freedom). docs/how-to/judges.md explains what each kind of repeat measures."
)
ADVICE = "No repeats are stored. Measure the noise with `memflow run --repeats 3`."
COLUMNS: Columns = {
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

    `memflow run --repeats N` measures it; `repeats_of` in memflow.toml is what it repeats: answers, run or judge.
    """
    from memflow.scoring.catalog import find_metric
    from memflow.scoring.primary import primary_scores

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    scores: list[Score] = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    benchmarks = {score.domain: settings.domain(score.domain).benchmark for score in scores}
    if domain is not None:
        check_names("the leaderboard", "domain", [domain], benchmarks)
    primary = primary_scores(
        (score for score in scores if domain in (None, score.domain)),
        benchmarks.__getitem__,
        variant_chooser(settings),
    )
    noisy = [
        score
        for score in primary
        if score.noise is not None and find_metric(score.metric).direction != "neither"
    ]
    label = score_label(noisy)
    parts = [
        part
        for name in dict.fromkeys(score.domain for score in noisy)
        for part in (heading(name), table_of([score for score in noisy if score.domain == name], COLUMNS))
    ]
    print_result(
        form,
        {"label": label, "scores": [asdict(score) for score in noisy]},
        *parts,
        note(MEANING if noisy else ADVICE),
        *label_note(label, "its noise shows that the pipeline works; it measures no model."),
    )
