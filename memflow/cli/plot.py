"""`memflow plot`: what was measured, as pictures in files. What they show is memflow/plots/, and for one benchmark
alone benchmarks/<name>/plots.py."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.selection import front_of
from memflow.cli.times import answered, known, measured_times
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.plots.shapes import Drawable
    from memflow.records import Score
    from resources.lake import Lake
    from resources.settings import Settings

BENCHMARK, MEMBENCH = "memorybench", "membench"
"""In place of a domain: what is drawn over several domains of the benchmark."""
TIMES = "times"


def plot(
    ctx: typer.Context,
    domain: Annotated[
        str,
        typer.Argument(
            help="The domain whose figures to draw; or memorybench, for scores by partition, times by task format and "
            "the effect of noise, or membench, for accuracy by mechanism, which go over several domains."
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="accuracy, memory_score, failures, factual_recall, min_max, cycles, or any metric with figures by "
            "period; checkpoints, stability, forgetting, forward_transfer; times (MemoryBench, MemBench); "
            "mechanisms, kinds, models, capacity (MemBench); may be repeated. "
            "[all of these that there are]",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where to. [plots/DOMAIN in the home]")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Draw figures by period, with their intervals, as SVG and PNG; failures are stacked, and an evolution by episode
    is drawn by cycle. Answers over checkpoints are drawn from the guess on, and stacked by whether they are right
    always, at times or never. MemoryBench's times are stacked, and its scores by partition stand side by side, as do
    MemBench's accuracies, and its times on a log scale; its capacity is accuracy over tokens.

    Needs matplotlib: pip install 'memflow[plots]'. What is there already under a picture's name is replaced.
    """
    from memflow.plots.drawing import drawn
    from resources.lake import Lake

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    figures = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    if domain in (BENCHMARK, MEMBENCH):
        over = _over_domains if domain == BENCHMARK else _over_membench
        wanted = _named(domain, over(settings, lake, figures), metric)
    else:
        wanted = _of_domain(settings, lake, figures, domain, metric)
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


def _of_domain(
    settings: "Settings", lake: "Lake", figures: Sequence["Score"], domain: str, metric: list[str] | None
) -> dict[str, "Drawable"]:
    from memflow.benchmarks.comem.paper import order
    from memflow.benchmarks.membench.plots import capacity_charts
    from memflow.plots.charts import chart, charts
    from memflow.plots.checkpoints import checkpoint_pictures

    there = sorted({figure.domain for figure in figures})
    if domain not in there:
        raise BadInput(f"the leaderboard has no domain {domain!r}; it has {', '.join(there) or 'none'}")
    beside: dict[str, Drawable] = {
        **capacity_charts(figures, domain),
        **checkpoint_pictures(figures, domain, order),
    }
    if not metric or TIMES in metric:
        beside |= _times(settings, lake, [domain], f"Time consumption, {domain}")
    beside |= _membench(settings, figures, domain)
    if metric:
        return {name: beside.get(name) or chart(figures, domain, name) for name in metric}
    wanted = {**charts(figures, domain), **beside}
    if not wanted:
        raise BadInput(f"{domain} has no figures to draw, over several periods or side by side")
    return wanted


def _over_domains(settings: "Settings", lake: "Lake", figures: Sequence["Score"]) -> dict[str, "Drawable"]:
    """What is drawn over several domains of MemoryBench, by name."""
    from memflow.benchmarks.memorybench.config import parameters_of
    from memflow.benchmarks.memorybench.domains import FORMATS
    from memflow.benchmarks.memorybench.partitions import cells, partitions
    from memflow.benchmarks.memorybench.plots import noise_charts, partition_columns

    domains = known(settings, dict.fromkeys(figure.domain for figure in figures))
    scores = partition_columns(cells(figures, partitions(domains)))
    names = [domain.name for domain in partitions(domains) if parameters_of(domain).partition in FORMATS]
    return {
        **({} if scores is None else {"partitions": scores}),
        **_times(settings, lake, names, "Time consumption by task format"),
        **noise_charts(figures, domains),
    }


def _membench(settings: "Settings", figures: Sequence["Score"], name: str) -> dict[str, "Drawable"]:
    """The pictures of a MemBench domain, by name; none of another's."""
    from memflow.benchmarks.membench.pictures import pictures

    return {
        found: drawn for one in known(settings, [name]) for found, drawn in pictures(figures, one).items()
    }


def _over_membench(settings: "Settings", lake: "Lake", figures: Sequence["Score"]) -> dict[str, "Drawable"]:
    """What is drawn over several domains of MemBench, by name."""
    from memflow.benchmarks.membench.pictures import pictures_over

    domains = known(settings, dict.fromkeys(figure.domain for figure in figures))
    return {**pictures_over(figures, domains)}


def _times(settings: "Settings", lake: "Lake", names: Sequence[str], title: str) -> dict[str, "Drawable"]:
    """The bars of the MemoryBench domains of those names; none, where there is nothing to draw."""
    from memflow.benchmarks.memorybench.plots import time_bars

    domains = [domain for domain in answered(lake, settings) if domain.name in names]
    bars = time_bars(measured_times(lake, domains), title)
    return {} if bars is None else {TIMES: bars}


def _named(benchmark: str, found: dict[str, "Drawable"], metric: list[str] | None) -> dict[str, "Drawable"]:
    there = ", ".join(found)
    if not found:
        raise BadInput(f"nothing was measured yet that is drawn over several domains of {benchmark}")
    for name in metric or ():
        if name not in found:
            raise BadInput(
                f"there is no picture {name!r} over several domains of {benchmark}; there are {there}"
            )
    return {name: found[name] for name in metric} if metric else found
