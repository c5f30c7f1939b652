"""A local origin, and transfers without waits."""

import time
from collections.abc import Iterator

import pytest
from download_origin import OriginServer, serving


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Iterator[OriginServer]:
    """Return a local origin. No proxy of the environment applies to it, and retries do not wait."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with serving() as state:
        yield state
