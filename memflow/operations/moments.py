"""Moments at which the lake is read (`--as-of`): a date, a publication or a run."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.lake.versions import Version

BEFORE = "before "
FORMS = (
    "a date or time such as 2026-11-23 or 2026-11-23T14:30 (local time, unless it has an offset), the number of a "
    "publication (`memflow show history`), or 'before RUN' with the id of a run"
)


def lake_as_of(lake: "Lake", text: str) -> "Lake":
    """Return the lake as of a moment given as text. Raises BadInput for an unknown form or a moment before all data."""
    from memflow.resources.lake.past import PastLake

    moment = parse_moment(lake, text)
    begun = [version.since or moment for version in _versions(lake)]
    if not begun:
        raise BadInput("the lake is empty. Fill it with `memflow run --demo`.")
    if (earliest := min(begun)) > moment:
        raise BadInput(
            f"the lake contained nothing at {moment:%Y-%m-%d %H:%M:%S} UTC. Its earliest state is of "
            f"{earliest:%Y-%m-%d %H:%M:%S} UTC: use --as-of {earliest.isoformat(timespec='microseconds')} or later."
        )
    return PastLake(lake, moment)


def removed_partitions(lake: "Lake") -> list[str]:
    """Return the partitions of a past moment whose rows were removed, as `TABLE of PARTITION`."""
    from memflow.records import TABLES

    return [f"{table} of {name}" for table in TABLES for name in lake.removed_partitions(table)]


def parse_moment(lake: "Lake", text: str) -> datetime:
    """Return the moment, in UTC, of a date, a publication's number, or `before RUN`."""
    if text.startswith(BEFORE):
        run = text.removeprefix(BEFORE).strip()
        times = [version.since for version in _versions(lake) if version.since and version.facts.run == run]
        if times:
            return min(times) - timedelta.resolution
        raise BadInput(f"the run {run!r} wrote nothing into the lake. `memflow show history` lists the runs.")
    if text.isdecimal() and len(text) < len("20260101"):
        return _publication(lake, int(text))
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise BadInput(f"{text!r} is no moment. Use {FORMS}.") from None


def _publication(lake: "Lake", number: int) -> datetime:
    published: dict[int, str] = {}
    for partition in lake.partitions("score.history"):
        published.update(lake.columns("score.history", partition, ("publication", "published_at")))
    if number not in published:
        known = (
            f"Use one from {min(published)} to {max(published)}"
            if published
            else "Publish with `memflow run`"
        )
        raise BadInput(f"there is no publication {number}. {known}; `memflow show history` lists them.")
    # The history is computed before the leaderboard is written.
    at = datetime.fromisoformat(published[number])
    written = [version.since for version in lake.versions("score.leaderboard", "all") if version.since]
    return min((since for since in written if since >= at), default=at)


def _versions(lake: "Lake") -> "Iterator[Version]":
    """Yield all versions of all partitions in the lake."""
    from memflow.records import TABLES

    for table in TABLES:
        for partition in lake.partitions(table):
            yield from lake.versions(table, partition)
