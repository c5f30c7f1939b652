"""`memflow plot`: draw published scores to image files.

memflow/plots/ draws charts for every benchmark; each benchmark declares further charts in its plots.py.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.evidence import health
from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.views import reader_of
from memflow.errors import BadInput
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.benchmarks.views import Reader
    from memflow.plots.shapes import Drawable


def plot(
    ctx: typer.Context,
    domain: Annotated[
        str,
        typer.Argument(help="The domain whose scores to draw."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="accuracy, memory_score, failures, factual_recall, min_max, cycles, or any metric with scores by "
            "period; or a picture that a benchmark declares, such as capacity; may be "
            "repeated. [all of these that there are]",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where to. [plots/DOMAIN in the home]")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Draw scores by period, with their intervals, and the charts of each benchmark, as SVG and PNG.

    Failure rates are drawn as stacked bars; an evolution by episode is drawn by cycle. Plots need matplotlib: pip
    install 'memflow[plots]'. A file of the same name is replaced.
    """
    from memflow.cli.front import front_of
    from memflow.plots.charts import with_health_caption
    from memflow.plots.drawing import render

    reader = reader_of(ctx)
    wanted = _of_domain(reader, domain, metric)
    scores = [score for score in reader.scores() if score.domain == domain]
    folder = out or front_of(ctx).load().home / "plots" / domain
    written = []
    for name, each in wanted.items():
        annotated = with_health_caption(each, scores)
        for kind in ("svg", "png"):
            picture = render(annotated, "svg" if kind == "svg" else "png")
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{name}.{kind}"
            path.write_bytes(picture)
            written.append({"metric": name, "file": str(path), "bytes": len(picture)})
    labels = dict.fromkeys(each.label for each in wanted.values() if each.label)
    answer(
        form,
        written,
        table("", ("metric", "file", "bytes"), [tuple(row.values()) for row in written], right=("bytes",)),
        *health(scores),
        *(note(f"Labeled on the pictures: {label}.") for label in labels),
    )


def _of_domain(reader: "Reader", domain: str, metric: list[str] | None) -> "Mapping[str, Drawable]":
    from memflow.benchmarks import registry
    from memflow.plots.charts import chart, charts

    scores = reader.scores()
    there = {score.domain for score in scores}
    if domain not in there:
        raise BadInput(unknown_name("domain", domain, there, "memflow show leaderboard"))
    declared = {
        name: each
        for plots in registry.plots().values()
        for name, each in plots.of_domain(reader, domain).items()
    }
    if metric:
        return {name: declared.get(name) or chart(scores, domain, name) for name in metric}
    wanted = {**charts(scores, domain), **declared}
    if not wanted:
        raise BadInput(
            f"the domain {domain} has no scores per period, and its benchmark declares no plot. Choose another "
            "domain."
        )
    return wanted
