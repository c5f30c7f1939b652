"""`memflow gc`: remove replaced rows that the lake keeps, by age and size."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.errors import BadInput

GIGA = 1e9
DAYS = {"d": 1.0, "h": 1 / 24, "w": 7.0}
BYTES = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def gc(
    ctx: typer.Context,
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="AGE", help="Remove what was replaced longer ago, such as 30d, 12h or 2w. [history]"
        ),
    ] = None,
    larger_than: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Remove the oldest beyond this size, such as 5GB or 500MB. [history]"
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Remove replaced rows that are old or exceed a size. Scores in `memflow show history` stay.

    Current rows stay, and so does the version before them. The defaults are `days` and `gigabytes` under [history] in
    memflow.toml. In an object store, what is younger than an hour stays.
    """
    from resources.lake.garbage_collection import collect, collectable, kept_bytes
    from resources.lake.lake import Lake

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    days = settings.history.days if older_than is None else _quantity(older_than, DAYS, "--older-than", "30d")
    size = (
        settings.history.gigabytes * GIGA
        if larger_than is None
        else _quantity(larger_than, BYTES, "--larger-than", "5GB")
    )
    chosen = collectable(lake, datetime.now(UTC) - timedelta(days=days), int(size))
    removed = chosen if dry_run else collect(lake, chosen)
    sizes: Counter[str] = Counter()
    for rows in removed:
        sizes[rows.table] += rows.bytes
    counts = Counter(rows.table for rows in removed)
    kept = kept_bytes(lake)
    data = {
        "dry_run": dry_run,
        "removed": [{"table": name, "versions": counts[name], "bytes": sizes[name]} for name in counts],
        "bytes": sizes.total(),
        "kept_bytes": kept,
    }
    shown = [(name, counts[name], f"{sizes[name] / 1e6:,.1f}") for name in counts]
    verb = "would be removed" if dry_run else "were removed"
    answer(
        form,
        data,
        table("", ("table", "versions", "MB"), shown, right=("versions", "MB")),
        note(f"{sizes.total() / 1e6:,.1f} MB {verb}; {kept / 1e6:,.1f} MB of replaced rows are kept now."),
    )


def _quantity(text: str, units: dict[str, float], option: str, example: str) -> float:
    match = re.fullmatch(rf"(\d+(?:\.\d+)?)\s*({'|'.join(units)})", text)
    if match is None:
        raise BadInput(
            f"{option} {text!r} is not a number with a unit ({', '.join(units)}). Use for example {example}."
        )
    return float(match[1]) * units[match[2]]
