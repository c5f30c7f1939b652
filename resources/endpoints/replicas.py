"""One server of a model: its connections, concurrency limit, keys, and whether it responds.

A server that does not respond is marked as down, so that its requests go to the other servers. After some seconds a
probe requests its list of models; the server is used again when it responds. endpoint.py sends the requests,
routing.py chooses the server of each.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from resources.endpoints.addresses import display_address
from resources.endpoints.api_keys import KeyRing
from resources.endpoints.http_client import (
    CONNECT_TIMEOUT,
    ExchangeFailed,
    HttpClient,
    HttpRequest,
    HttpResponse,
)
from resources.endpoints.limits import AdaptiveLimiter
from resources.endpoints.model_list import read_model_names
from resources.endpoints.replies import BrokenReply

FIRST_PROBE_S = 1.0
"""Seconds after which a server that has stopped responding is probed first; they double after each failed probe."""
LAST_PROBE_S = 30.0
"""Maximum of the seconds between two probes."""


class Replica:
    """A server of a model. `clock` returns seconds, as in Endpoint."""

    def __init__(
        self,
        url: str,
        client: HttpClient,
        limiter: AdaptiveLimiter,
        keys: KeyRing,
        clock: Callable[[], float],
    ) -> None:
        self.url = url
        self.address = display_address(url)
        """The address in messages."""
        self.client = client
        self.limiter = limiter
        self.keys = keys
        self.is_up = True
        self.now = clock
        self._down_since = 0.0
        self._reason = ""
        self._is_reported = False
        self._probe_at = 0.0
        self._probe_wait = FIRST_PROBE_S
        self._probe: asyncio.Task[None] | None = None

    @property
    def outstanding(self) -> int:
        """The number of requests that this process has sent to the server, or that wait to be sent."""
        return self.limiter.outstanding

    @property
    def capacity(self) -> int:
        """The number of requests that the server answers at once, as its limiter assumes."""
        return max(1, int(self.limiter.limit))

    @property
    def is_free(self) -> bool:
        """Whether the server responds, and has not asked to wait for all keys."""
        return self.is_up and self.keys.shortest_pause() <= 0

    def mark_down(self, reason: str, *, connected: bool = False) -> None:
        """Do not use the server until a probe has succeeded.

        If the failed request was `connected`, perhaps only its connection is lost, so the first probe is due at once.
        """
        if self.is_up:
            self.is_up, self._probe_wait = False, FIRST_PROBE_S
            self._down_since = self._probe_at = self.now()
            self._reason = reason
            if not connected:
                self._schedule_probe()
                self._report_down()

    def mark_up(self, began: float) -> None:
        """Use the server again, after a response to a request that `began` when the server was down."""
        if not self.is_up and began >= self._down_since:
            self.is_up = True
            if self._is_reported:
                self._is_reported = False
                seconds = self.now() - self._down_since
                logging.getLogger("memflow").warning(
                    "%s responds again after %.0f s, and is used.", self.address, seconds
                )

    def is_probe_due(self) -> bool:
        """Return whether the server is down, and a probe is due and does not run yet."""
        return not self.is_up and self.now() >= self._probe_at and self._probe is None

    def start_probe(
        self, work: Callable[["Replica"], Awaitable[None]], start: Callable[..., asyncio.Task[None]]
    ) -> None:
        """Start a task that probes the server with `work`."""

        async def probe() -> None:
            try:
                await work(self)
            finally:
                self._probe = None
            if not self.is_up:
                self._schedule_probe()
                self._report_down()

        self._probe = start(probe())

    async def listed_models(self, authorization: Mapping[str, str]) -> list[str] | None:
        """Return the names of the models that the server lists; None if it has no list. Raises ExchangeFailed."""
        response = await self._get_models(authorization)
        if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ExchangeFailed(f"HTTP status {response.status}", connected=True)
        if response.status != HTTPStatus.OK:
            return None
        try:
            return read_model_names(response.content)
        except BrokenReply:
            return None

    async def _get_models(self, authorization: Mapping[str, str]) -> HttpResponse:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                return await self.client.exchange(HttpRequest("GET", "/models"), authorization)
        except TimeoutError as error:
            raise ExchangeFailed(f"no response within {CONNECT_TIMEOUT:g} s", connected=False) from error

    async def close(self) -> None:
        """End the probe, and close the connections."""
        if self._probe is not None:
            self._probe.cancel()
        await self.client.close()

    def _report_down(self) -> None:
        """Log that the server is down, once."""
        if not self._is_reported:
            self._is_reported = True
            logging.getLogger("memflow").warning(
                "%s does not respond (%s); its requests go to the other addresses until it does.",
                self.address,
                self._reason,
            )

    def _schedule_probe(self) -> None:
        self._probe_at = self.now() + self._probe_wait
        self._probe_wait = min(2 * self._probe_wait, LAST_PROBE_S)
