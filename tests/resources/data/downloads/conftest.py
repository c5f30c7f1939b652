"""A local origin, and transfers without waits."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from download_origin import LIMITS, OriginServer, serving

from resources.data.downloads.transfer import Transfer, TransferLimits, new_session


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Iterator[OriginServer]:
    """Return a local origin. No proxy of the environment applies to it."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as state:
        yield state


@pytest.fixture
def fetch() -> Callable[..., None]:
    """Return a function that downloads an address to a partial file."""

    def call(url: str, partial: Path, *arguments: Any, limits: TransferLimits = LIMITS, **more: Any) -> None:
        async def work() -> None:
            async with new_session() as session:
                await Transfer(session, limits, **more).fetch(url, partial, *arguments)

        asyncio.run(work())

    return call
