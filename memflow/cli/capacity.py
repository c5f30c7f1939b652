"""`show capacity`: how much may be said until a memory has lost what it was told (MemBench, sections 3.4 and 4.4).

How it is measured is benchmarks/membench/capacity.py.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.records import Score


def capacity(
    ctx: typer.Context,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", metavar="NAME", help="Of this domain; may be repeated.")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Show MemBench's capacity: the knee, beyond which accuracy has fallen for good, in tokens with its 95 % interval
    (bootstrap over trajectories), and the accuracy on either side of it; or that there is none.

    Tokens are counted from the evidence on, which is what a memory has to hold to answer, and in all, which is the
    paper's figure 5.
    """
    from memflow.chat.scripted import LABEL
    from resources.lake import Lake

    lake = Lake(front_of(ctx).load().lake_root)
    figures = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    rows = [row for row in _rows(figures) if not domain or row["domain"] in domain]
    there = dict.fromkeys(row["domain"] for row in _rows(figures))
    for name in domain or ():
        if name not in there:
            raise BadInput(
                f"no capacity was measured in {name!r}; it was in {', '.join(there) or 'no domain'}"
            )
    if not rows:
        raise BadInput(
            "no capacity was measured yet: it is in domains whose protocol is capacity, such as"
            " membench_memdaily_capacity"
        )
    scripted = any(row["scripted"] for row in rows)
    label = Text(
        f"\n{LABEL}: these figures show that the chain works, and say nothing of any model.", "yellow"
    )
    shown = [part for name in dict.fromkeys(row["domain"] for row in rows) for part in _shown(name, rows)]
    answer(
        form,
        {"label": LABEL if scripted else None, "capacity": rows},
        *shown,
        *([label] if scripted else []),
    )


def _rows(figures: Sequence["Score"]) -> list[dict[str, Any]]:
    """A row for each domain, way of counting and assistant, as they stand in the leaderboard."""
    from memflow.benchmarks.membench.capacity import BEFORE, BEYOND, CAPACITY, IN_ALL

    accuracy = {
        (one.domain, one.variant, one.assistant, one.slice): one.value
        for one in figures
        if one.metric == "accuracy" and one.slice in (BEFORE, BEYOND)
    }
    return [
        {
            "domain": one.domain,
            "tokens": "in all" if one.variant == IN_ALL else "since the evidence",
            "assistant": one.assistant,
            "knee": one.value,
            "low": one.low,
            "high": one.high,
            "before": accuracy.get((one.domain, one.variant, one.assistant, BEFORE)),
            "beyond": accuracy.get((one.domain, one.variant, one.assistant, BEYOND)),
            "probes": one.n,
            "trajectories": one.n_episodes,
            "scripted": one.scripted,
            "reason": one.reason,
        }
        for one in sorted(figures, key=lambda one: (one.domain, one.variant == IN_ALL))
        if one.metric == CAPACITY
    ]


def _shown(domain: str, rows: Sequence[dict[str, Any]]) -> Iterator[Any]:
    numbers = ("knee", "95 % interval", "before", "beyond", "probes", "trajectories")
    columns = ("tokens", "memory", *numbers, "")
    lines: list[list[Any]] = []
    for row in rows:
        if row["domain"] != domain:
            continue
        first = row["tokens"] if not any(line[0] == row["tokens"] for line in lines) else ""
        interval = "" if row["low"] is None else f"{row['low']:,.0f} – {row['high']:,.0f}"
        knee = "none" if row["knee"] is None else f"{row['knee']:,.0f}"
        asked = [row["probes"], row["trajectories"]]
        lines.append(
            [first, row["assistant"], knee, interval, row["before"], row["beyond"], *asked, row["reason"]]
        )
    yield heading(domain)
    yield table("", columns, lines, right=numbers)
    yield note(
        "Knee: the tokens up to which answers are as right as at first. Before and beyond: accuracy on either side. "
        "Where the two ways of counting differ, the one with the greater fall says how the memory forgets."
    )
