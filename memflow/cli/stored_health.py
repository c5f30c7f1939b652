"""What `memflow doctor` checks and cleans of stored results: lake, ledger and memflow.duckdb."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memflow.cli.finding import Finding
from memflow.cli.output import Format, answer, note, table
from memflow.suggestions import MOST_NAMES

if TYPE_CHECKING:
    from resources.settings.settings import Settings

STORED = {
    "lake": ("lake", "version"),
    "ledger": ("ledger",),
    "memflow.duckdb": ("database",),
    "caches and records": ("cache", "data"),
}
"""The stored results that are verified, and the kinds of their damage."""


def history_finding(settings: "Settings") -> Finding:
    """Return the size of the replaced rows that the lake keeps."""
    from resources.lake.garbage_collection import kept_bytes
    from resources.lake.lake import Lake

    kept = kept_bytes(Lake(settings.lake_root)) / 1e9
    limit = settings.history.gigabytes
    found = (
        f"{kept:,.3f} GB of replaced rows; `memflow doctor --clean` keeps {limit:g} GB and "
        f"{settings.history.days:g} days"
    )
    if kept <= limit:
        return Finding("history", "ok", found)
    return Finding("history", "absent", found, "Run `memflow doctor --clean`.")


def clean(settings: "Settings", form: Format) -> None:
    """Remove the replaced rows that are older or larger than [history] in memflow.toml allows, and list them by table.

    Current rows stay, and so does the version before them. In an object store, what is younger than an hour stays.
    """
    from resources.lake.garbage_collection import collect, collectable, kept_bytes
    from resources.lake.lake import Lake

    lake = Lake(settings.lake_root)
    oldest = datetime.now(UTC) - timedelta(days=settings.history.days)
    removed = collect(lake, collectable(lake, oldest, int(settings.history.gigabytes * 1e9)))
    sizes: Counter[str] = Counter()
    for rows in removed:
        sizes[rows.table] += rows.bytes
    counts = Counter(rows.table for rows in removed)
    kept = kept_bytes(lake)
    data = {
        "removed": [{"table": name, "versions": counts[name], "bytes": sizes[name]} for name in counts],
        "bytes": sizes.total(),
        "kept_bytes": kept,
    }
    shown = [(name, counts[name], f"{sizes[name] / 1e6:,.1f}") for name in counts]
    answer(
        form,
        data,
        table("", ("table", "versions", "MB"), shown, right=("versions", "MB")),
        note(
            f"{sizes.total() / 1e6:,.1f} MB were removed; {kept / 1e6:,.1f} MB of replaced rows are kept now."
        ),
    )


def stored_findings(settings: "Settings", full: bool) -> Iterator[Finding]:
    """Yield whether lake, ledger and memflow.duckdb are intact, and what rebuilds them."""
    from memflow.records import TABLES
    from resources.lake.lake import Lake
    from resources.verification import find_damage

    lake = Lake(settings.lake_root)
    damage = find_damage(settings, lake, whole=full)
    files = sum(len(lake.partitions(table)) for table in TABLES)
    depth = "intact" if full else "intact at a quick look"
    for what, kinds in STORED.items():
        items = [item for item in damage if item.kind in kinds]
        if not items:
            number = f", {files:,} files" if what == "lake" else ""
            yield Finding(what, "ok", f"{depth}{number}")
            continue
        fixes: dict[str, list[str]] = {}
        for item in items:
            fixes.setdefault(item.fix, []).append(item.what)
        for fix, names in fixes.items():
            some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
            yield Finding(what, "damaged", f"{len(names):,} damaged or missing: {some}", fix)
