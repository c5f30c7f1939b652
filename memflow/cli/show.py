"""`show`: the leaderboard and the verdicts. One probe, shown whole, is probe.py; what a memory held, memory.py."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.costs import costs
from memflow.cli.evidence import evidence, told_by_evidence
from memflow.cli.made import made
from memflow.cli.memory import memory
from memflow.cli.output import Format, FormatOption, answer, cut, heading, note, table
from memflow.cli.probe import probe
from memflow.cli.selection import front_of
from memflow.cli.views import ViewGroup
from memflow.errors import BadInput
from memflow.records import EFFICIENCY

if TYPE_CHECKING:
    from memflow.records import Score
    from resources.lake import Lake

LONGEST_REASON, LONGEST_ANSWER = 60, 30

show = typer.Typer(
    cls=ViewGroup,
    no_args_is_help=True,
    help="Show results: the leaderboard, verdicts, a probe, a memory, and the views of each benchmark.",
)
show.command("probe")(probe)
show.command("costs")(costs)
show.command("made")(made)
show.command("memory")(memory)

DomainFilter = Annotated[
    list[str] | None, typer.Option("--domain", metavar="NAME", help="Of this domain; may be repeated.")
]
AssistantFilter = Annotated[
    list[str] | None, typer.Option("--assistant", metavar="NAME", help="Of this assistant; may be repeated.")
]
MetricFilter = Annotated[
    list[str] | None, typer.Option("--metric", metavar="NAME", help="Under this metric; may be repeated.")
]


@show.command()
def leaderboard(
    ctx: typer.Context,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    metric: MetricFilter = None,
    slices: Annotated[
        bool, typer.Option("--slices", help="Every slice: periods, categories, data sets; not only all.")
    ] = False,
    variants: Annotated[
        bool, typer.Option("--variants", help="Named deviations from the paper's metric as well.")
    ] = False,
    form: FormatOption = Format.text,
) -> None:
    """Show the figures: value, 95 % interval (bootstrap over episodes; or from the variance between draws),
    n, episodes and coverage, and with --slices the deviation of the probes' values, where it is told.

    Coverage is the share of the probes asked that have a verdict. A figure without a value says why.
    """
    from memflow.chat.scripted import LABEL

    lake = _lake(ctx)
    held = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    if not held:
        raise BadInput("there is no leaderboard yet: `memflow run --demo` makes one")
    _named(domain, {figure.domain for figure in held}, "domain")
    _named(assistant, {figure.assistant for figure in held}, "assistant")
    _named(metric, {figure.metric for figure in held}, "metric")
    figures = [
        figure
        for figure in held
        if _wanted(figure.domain, domain)
        and _wanted(figure.assistant, assistant)
        and _wanted(figure.metric, metric)
        and (slices or figure.slice == "all")
        and (variants or figure.variant == "standard" or told_by_evidence(figure))
    ]
    scripted = any(figure.scripted for figure in figures)
    label = Text(
        f"\n{LABEL}: these figures show that the chain works, and say nothing of any model.", "yellow"
    )
    answer(
        form,
        {"label": LABEL if scripted else None, "figures": [asdict(figure) for figure in figures]},
        *_boards(figures, slices=slices, variants=variants),
        *([label] if scripted else []),
    )


@show.command()
def verdicts(
    ctx: typer.Context,
    domain: Annotated[str | None, typer.Option(metavar="NAME", help="Of this domain.")] = None,
    assistant: Annotated[str | None, typer.Option(metavar="NAME", help="Of this assistant.")] = None,
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="Under this metric.")] = None,
    episode: Annotated[str | None, typer.Option(metavar="ID", help="Of this episode.")] = None,
    checkpoint: Annotated[int | None, typer.Option(min=0, help="At this checkpoint.")] = None,
    lost: Annotated[
        bool, typer.Option("--lost", help="Only those without a value: what was lost, and why.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="Show so many at most; 0 is all.")] = 50,
    form: FormatOption = Format.text,
) -> None:
    """Show the verdicts: what each metric says of each reply, beside the gold and the answer that was read.

    Where a verdict has no value, it says why.
    """
    from resources.warehouse import Warehouse

    settings = front_of(ctx).load()
    found = Warehouse(_lake(ctx), settings.warehouse_path).query(
        "verdicts",
        domain=domain,
        assistant=assistant,
        metric=metric,
        episode=episode,
        checkpoint=checkpoint,
        quarantined=True if lost else None,
    )
    shown = found[:limit] if limit else list(found)
    columns = ("domain", "assistant", "probe", "gold", "answer", "metric", "value", "reason")
    rows = [
        (
            row["domain"],
            row["assistant"],
            row["probe_id"],
            cut(row["gold"] or "", LONGEST_ANSWER),
            cut(row["parsed"] or "", LONGEST_ANSWER),
            row["metric"] if row["variant"] == "standard" else f"{row['metric']} ({row['variant']})",
            row["value"],
            cut(row["reason"] or "", LONGEST_REASON),
        )
        for row in shown
    ]
    answer(
        form,
        shown,
        table("", columns, rows, right=("value",)),
        note(f"\n{len(shown):,} of {len(found):,} verdicts. `memflow show probe ID` shows one whole."),
    )


def _boards(figures: Sequence["Score"], *, slices: bool, variants: bool) -> Iterator[RenderableType]:
    """Two tables for each domain: metrics in their order, best assistants first; then what failures are due to."""
    for domain in dict.fromkeys(figure.domain for figure in figures):
        of_domain = [figure for figure in figures if figure.domain == domain]
        beside = [*evidence(of_domain)]
        if not slices:  # what stands in the second table stands there only
            of_domain = [figure for figure in of_domain if not told_by_evidence(figure)]
        order = {metric: place for place, metric in enumerate(dict.fromkeys(f.metric for f in of_domain))}
        slice_order = {name: place for place, name in enumerate(dict.fromkeys(f.slice for f in of_domain))}
        of_domain.sort(
            key=lambda f: (
                order[f.metric],
                f.variant != "standard",
                f.variant,
                slice_order[f.slice],
                f.value is None,
                (f.value or 0) if f.metric in EFFICIENCY else -(f.value or 0),
            )
        )
        columns = ["metric", *(["variant"] if variants else []), *(["slice"] if slices else [])]
        told = slices and any(figure.deviation is not None for figure in of_domain)
        columns += ["assistant", "model", "value", *(["deviation"] if told else [])]
        columns += ["95 % interval", "n", "episodes", "coverage", ""]
        rows: list[list[Any]] = []
        last: list[Any] = []
        for figure in of_domain:
            group = [
                figure.metric,
                *([figure.variant] if variants else []),
                *([figure.slice] if slices else []),
            ]
            head = group if group != last else ["" for _ in group]
            last = group
            value = [_number(figure, figure.value), *([figure.deviation] if told else [])]
            rows.append([*head, figure.assistant, figure.model, *value, *_rest(figure)])
        yield heading(domain)
        if rows:
            numbers = ("value", "deviation", "95 % interval", "n", "episodes", "coverage")
            yield table("", columns, rows, right=numbers)
        yield from beside


def _number(figure: "Score", value: float | None) -> str | None:
    """Three decimals; of seconds three digits, since those of a memory's own computing are small."""
    if value is None:
        return None
    return f"{value:.3g}" if figure.metric in EFFICIENCY else f"{value:,.3f}"


def _rest(figure: "Score") -> list[Any]:
    ends = _number(figure, figure.low), _number(figure, figure.high)
    interval = "" if None in ends else f"{ends[0]} – {ends[1]}"
    return [
        interval,
        figure.n,
        figure.n_episodes,
        f"{figure.coverage:.0%}",
        cut(figure.reason or "", LONGEST_REASON),
    ]


def _wanted(value: str, among: Sequence[str] | None) -> bool:
    return not among or value in among


def _named(asked: Sequence[str] | None, there: set[str], what: str) -> None:
    """Raise BadInput for a name that the leaderboard does not have."""
    for name in asked or ():
        if name not in there:
            raise BadInput(f"the leaderboard has no {what} {name!r}; it has {', '.join(sorted(there))}")


def _lake(ctx: typer.Context) -> "Lake":
    from resources.lake import Lake

    return Lake(front_of(ctx).load().lake_root)
