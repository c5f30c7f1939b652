"""A lake for tests whose clock advances by one hour with each write."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memflow.resources.lake.lake import Lake

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that advances by one hour with each write."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(hours=1)
        return self.now


def hour(number: float) -> datetime:
    """Return the moment half an hour after the write with this number."""
    return START + timedelta(hours=number + 0.5)


def timed_lake(folder: Path) -> Lake:
    """Return an empty lake in a folder."""
    return Lake(folder / "lake", Clock())
