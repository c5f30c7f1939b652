"""`memflow plot`: draw published scores to image files, with the charts of memflow/plots/."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.options import DomainArgument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.cli.views import reader_of
from memflow.errors import BadInput
from memflow.operations.stored_names import check_names
from memflow.rendering.evidence import health
from memflow.rendering.tables import table_of
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.benchmarks.views import Reader
    from memflow.plots.shapes import Drawable


def plot(
    ctx: typer.Context,
    domain: DomainArgument,
    metric: Annotated[
        list[str] | None,
        option(
            "--metric",
            "accuracy, memory_score, failures, factual_recall, min_max, cycles, or any metric with scores by "
            "period; may be repeated. [all of these that there are]",
        ),
    ] = None,
    out: Annotated[
        Path | None, option("--out", "Where to. [plots/DOMAIN in the home]", metavar="FOLDER")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Draw scores by period, or by tokens, with their intervals, as SVG and PNG.

    Failure rates are drawn as stacked bars; an evolution by episode is drawn by cycle. Plots need matplotlib: pip
    install 'memflow-bench[plots]'. A file of the same name is replaced.
    """
    from memflow.plots.charts import with_health_caption
    from memflow.plots.drawing import render

    reader = reader_of(ctx)
    pictures = _pictures(reader, domain, metric)
    scores = [score for score in reader.scores() if score.domain == domain]
    folder = out or front_of(ctx).load().home / "plots" / domain
    written = []
    for name, picture in pictures.items():
        for path in (folder / f"{name}.svg", folder / f"{name}.png"):
            image = render(with_health_caption(picture, scores), path.suffix[1:])
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image)
            written.append({"metric": name, "file": str(path), "bytes": path.stat().st_size})
    labels = dict.fromkeys(picture.label for picture in pictures.values() if picture.label)
    print_result(
        form,
        written,
        table_of(written),
        *health(scores),
        *(note(f"Labeled on the pictures: {label}.") for label in labels),
    )


def _pictures(reader: "Reader", domain: str, metrics: list[str] | None) -> "Mapping[str, Drawable]":
    """Return the named charts of a domain, by default all that there are. Raises BadInput if there are none."""
    from memflow.plots.charts import chart, charts

    scores = reader.scores()
    check_names("", "domain", [domain], {score.domain for score in scores}, "memflow show leaderboard")
    if metrics:
        return {name: chart(scores, domain, name) for name in metrics}
    pictures = charts(scores, domain)
    if not pictures:
        raise BadInput(f"the domain {domain} has no scores per period. Choose another domain.")
    return pictures
