"""`memflow plot`: the figures of a domain by period, as pictures in files. What they show is memflow/plots/."""

from pathlib import Path
from typing import Annotated

import typer

from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput


def plot(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(help="The domain whose figures to draw.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="accuracy, memory_score, failures, factual_recall, cycles, or any metric with figures by period; "
            "may be repeated. [all of these that there are]",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where to. [plots/DOMAIN in the home]")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Draw figures by period, with their intervals, as SVG and PNG; failures are stacked, and an evolution by episode
    is drawn by cycle.

    Needs matplotlib: pip install 'memflow[plots]'. What is there already under a picture's name is replaced.
    """
    from memflow.plots.charts import chart, charts
    from memflow.plots.drawing import drawn
    from resources.lake import Lake

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    figures = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    there = sorted({figure.domain for figure in figures})
    if domain not in there:
        raise BadInput(f"the leaderboard has no domain {domain!r}; it has {', '.join(there) or 'none'}")
    wanted = {name: chart(figures, domain, name) for name in metric} if metric else charts(figures, domain)
    if not wanted:
        raise BadInput(f"{domain} has no figures over several periods to draw")
    folder = out or settings.home / "plots" / domain
    written = []
    for name, each in wanted.items():
        for kind in ("svg", "png"):
            picture = drawn(each, "svg" if kind == "svg" else "png")
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{name}.{kind}"
            path.write_bytes(picture)
            written.append({"metric": name, "file": str(path), "bytes": len(picture)})
    labels = dict.fromkeys(each.label for each in wanted.values() if each.label)
    answer(
        form,
        written,
        table("", ("metric", "file", "bytes"), [tuple(row.values()) for row in written], right=("bytes",)),
        *(note(f"Labelled on the pictures: {label}.") for label in labels),
    )
