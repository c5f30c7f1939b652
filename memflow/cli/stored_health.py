"""The checks of `memflow doctor` on stored results: lake, ledger, indexes and memflow.duckdb."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memflow.cli.finding import Finding
from memflow.suggestions import MOST_NAMES

if TYPE_CHECKING:
    from resources.settings.settings import Settings

STORED = {
    "lake": ("lake", "version"),
    "ledger": ("ledger",),
    "search indexes": ("index",),
    "memflow.duckdb": ("database",),
    "caches and records": ("cache", "data"),
}
"""The stored results that are verified, and the kinds of their damages."""


def history_finding(settings: "Settings") -> Finding:
    """Return the size of the replaced rows that the lake keeps."""
    from resources.lake.garbage_collection import kept_bytes
    from resources.lake.lake import Lake

    kept = kept_bytes(Lake(settings.lake_root)) / 1e9
    limit = settings.history.gigabytes
    found = (
        f"{kept:,.3f} GB of replaced rows; `memflow gc` keeps {limit:g} GB and {settings.history.days:g} days"
    )
    return Finding(
        "history", "ok" if kept <= limit else "absent", found, "" if kept <= limit else "Run `memflow gc`."
    )


def stored_findings(settings: "Settings", full: bool) -> Iterator[Finding]:
    """Yield whether lake, ledger, search indexes and memflow.duckdb are intact."""
    from memflow.records import TABLES
    from resources.lake.lake import Lake
    from resources.repair.verification import find_damages

    lake = Lake(settings.lake_root)
    found = find_damages(settings, lake, lambda *_: None, whole=full)
    files = sum(len(lake.partitions(table)) for table in TABLES)
    depth = "intact" if full else "intact at a quick look"
    for what, kinds in STORED.items():
        damages = [each for each in found if each.kind in kinds]
        if not damages:
            number = f", {files:,} files" if what == "lake" else ""
            yield Finding(what, "ok", f"{depth}{number}")
            continue
        names = [each.what for each in damages]
        some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
        fix = "Run `memflow repair`, which rebuilds what the ledger can rebuild, without requests."
        yield Finding(what, "damaged", f"{len(damages):,} damaged or missing: {some}", fix)
