"""What `memflow doctor` checks and cleans of stored results: lake, ledger and memflow.duckdb."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memflow.operations.finding import Finding
from memflow.suggestions import MOST_NAMES

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings

STORED = {
    "lake": ("lake", "version"),
    "ledger": ("ledger",),
    "memflow.duckdb": ("database",),
    "records of downloads": ("data",),
}
"""The stored results that are verified, and the kinds of their damage."""


def stored_findings(settings: "Settings", full: bool) -> Iterator[Finding]:
    """Yield the size of the replaced rows, and whether lake, ledger, indexes and memflow.duckdb are intact."""
    from memflow.resources.lake.garbage_collection import kept_bytes
    from memflow.resources.lake.lake import Lake
    from memflow.resources.verification import find_damage

    lake, limit = Lake(settings.lake_root), settings.history.gigabytes
    kept = kept_bytes(lake) / 1e9
    found = f"{kept:,.3f} GB of replaced rows; `memflow doctor --clean` keeps {limit:g} GB and "
    found += f"{settings.history.days:g} days"
    if kept > limit:
        yield Finding("history", "absent", found, "Run `memflow doctor --clean`.")
    else:
        yield Finding("history", "ok", found)
    damage = find_damage(settings, lake, whole=full)
    for what, kinds in STORED.items():
        fixes: dict[str, list[str]] = {}
        for item in damage:
            if item.kind in kinds:
                fixes.setdefault(item.fix, []).append(item.what)
        if not fixes:
            yield Finding(what, "ok", "intact" if full else "intact at a quick look")
        for fix, names in fixes.items():
            some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
            yield Finding(what, "damaged", f"{len(names):,} damaged or missing: {some}", fix)


def clean(settings: "Settings") -> tuple[dict[str, int], int]:
    """Remove the replaced rows that are older or larger than [history] in memflow.toml allows.

    Return the removed bytes by table, and the bytes of replaced rows that stay. Current rows stay, and so does the
    version before them.
    """
    from memflow.resources.lake.garbage_collection import collect, collectable, kept_bytes
    from memflow.resources.lake.lake import Lake

    lake = Lake(settings.lake_root)
    oldest = datetime.now(UTC) - timedelta(days=settings.history.days)
    sizes: Counter[str] = Counter()
    for rows in collect(lake, collectable(lake, oldest, int(settings.history.gigabytes * 1e9))):
        sizes[rows.table] += rows.bytes
    return dict(sizes), kept_bytes(lake)
