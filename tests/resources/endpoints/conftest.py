"""A clock for tests of retries: time passes only while requests sleep."""

import pytest
from sleeping_clock import SleepingClock


@pytest.fixture
def time() -> SleepingClock:
    """Return the clock."""
    return SleepingClock()


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the first back-off in tests without the clock."""
    monkeypatch.setattr("memflow.resources.endpoints.endpoint.BACKOFF", 0.05)
