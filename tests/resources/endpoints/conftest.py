"""A clock for tests of retries: time passes only while requests sleep, also between attempts of the OpenAI SDK."""

import pytest
from sleeping_clock import SleepingClock


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> SleepingClock:
    """Return the clock. The back-off of the SDK advances it."""
    clock = SleepingClock()
    monkeypatch.setattr("anyio.sleep", clock.sleep)
    return clock


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the first back-off of the SDK, which is half a second, in tests without the clock."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.05)
