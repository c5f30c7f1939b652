"""`show partitions`: memories by MemoryBench partition, as in the paper's Tables 10 and 11. Which domains are
partitions, and what a cell is, is benchmarks/memorybench/partitions.py."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.cli.selection import front_of
from memflow.cli.times import known
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.memorybench.partitions import Cell


def partitions(
    ctx: typer.Context,
    macro: Annotated[
        bool, typer.Option("--macro", help="Each data set as heavy as another, not each case.")
    ] = False,
    pooled: Annotated[
        bool,
        typer.Option(
            "--pooled", help="Measured against all that was run in a domain, not the published figures."
        ),
    ] = False,
    form: FormatOption = Format.text,
) -> None:
    """Show MemoryBench's min-max and z scores by partition, off-policy: a row for each memory.

    Scores are means over all cases of a partition. A cell without a score is said why below the table.
    """
    from memflow.benchmarks.memorybench import partitions as board
    from memflow.chat.scripted import LABEL
    from resources.lake import Lake

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    figures = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    domains = board.partitions(known(settings, dict.fromkeys(figure.domain for figure in figures)))
    variant = "pooled" if pooled else "standard"
    found = board.cells(figures, domains, variant=variant, slice_=board.MACRO if macro else board.MICRO)
    if not found:
        raise BadInput(
            "no domain that is a partition of the paper's was measured yet: `memflow run --domain memorybench_legal` "
            "measures one (`memflow data` says what its data sets lack)"
        )
    scripted = any(cell.scripted for cell in found)
    label = Text(
        f"\n{LABEL}: these figures show that the chain works, and say nothing of any model.", "yellow"
    )
    told = {
        "label": LABEL if scripted else None,
        "variant": variant,
        "slice": "macro" if macro else "micro",
        "cells": [{**asdict(cell), "reason": cell.reason} for cell in found],
    }
    answer(form, told, *_shown(found), *([label] if scripted else []))


def _shown(found: Sequence["Cell"]) -> Iterator[Any]:
    domains = list(dict.fromkeys((cell.domain, cell.partition) for cell in found))
    heads = {
        domain: partition if [other for _, other in domains].count(partition) == 1 else domain
        for domain, partition in domains
    }
    columns = [f"{head}\n{scale}" for head in heads.values() for scale in ("min-max", "z")]
    held = {(cell.assistant, cell.domain): cell for cell in found}
    rows: list[list[Any]] = []
    for assistant in dict.fromkeys(cell.assistant for cell in found):
        row: list[Any] = [assistant]
        for domain in heads:
            cell = held[assistant, domain]
            row += [None if one is None else one.value for one in (cell.min_max, cell.z_score)]
        rows.append(row)
    yield heading("MemoryBench by partition")
    yield table("", ["memory", *columns], rows, right=columns)
    for reason, cells in _lacking(found).items():
        named = ", ".join(f"{cell.assistant} in {heads[cell.domain]}" for cell in cells)
        yield note(f"No score of {named}: {reason}.")


def _lacking(found: Sequence["Cell"]) -> dict[str, list["Cell"]]:
    lacking: dict[str, list[Cell]] = {}
    for cell in found:
        if cell.reason is not None:
            lacking.setdefault(cell.reason, []).append(cell)
    return lacking
