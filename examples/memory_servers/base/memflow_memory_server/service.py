"""A client of a JSON service over HTTP, for memories that run behind a REST interface."""

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from memflow_memory_server.server import Failed


class _NoRedirect(HTTPRedirectHandler):
    """Follow no redirect, because the request has the service's key."""

    def redirect_request(self, *_: Any) -> None:
        return None


class JsonService:
    """A JSON service at a base address. `key` names the environment variable of its key, which is never stored.

    `secret` is the key itself, for the endpoints that memflow gives.
    """

    def __init__(
        self, url: str, *, key: str = "", secret: str = "", timeout: float = 60.0, attempts: int = 4
    ) -> None:
        self.url, self._key, self._secret = url.rstrip("/"), key, secret
        self._timeout, self._attempts = timeout, attempts
        local = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
        self._opener: OpenerDirector = build_opener(_NoRedirect, *([ProxyHandler({})] if local else []))

    def get(self, *path: str, **query: Any) -> Any:
        """Return the answer to GET. Parts of the path are quoted."""
        return self.request("GET", path, query=query)

    def post(self, *path: str, body: Any, repeatable: bool = False) -> Any:
        """Return the answer to POST. `repeatable`: the same request twice has the effect of one, as for a search."""
        return self.request("POST", path, body=body, repeatable=repeatable)

    def delete(self, *path: str) -> Any:
        """Return the answer to DELETE, or None if there is nothing to delete."""
        try:
            return self.request("DELETE", path)
        except Failed as error:
            if error.code == "http_404":
                return None
            raise

    def request(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        body: Any = None,
        query: Mapping[str, Any] = {},
        repeatable: bool = True,
    ) -> Any:
        """Send a request. One that was rejected with 429 or 503 is sent again, as the service asks.

        A write that may have been processed is not repeated, because its messages would be stored twice.

        Raises:
            Failed: with code `http_STATUS`, or `unreachable`.
        """
        url = "/".join([self.url, *(quote(part, safe="") for part in path)])
        url += f"?{urlencode(query)}" if query else ""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "memflow"}
        if secret := self._secret or (os.environ.get(self._key) if self._key else None):
            headers["Authorization"] = f"Bearer {secret}"
        for attempt in range(self._attempts):
            try:
                with self._opener.open(
                    Request(url, data, headers, method=method), timeout=self._timeout
                ) as reply:
                    text = reply.read()
                    return json.loads(text) if text.strip() else None
            except HTTPError as error:
                if error.code not in (429, 503) or attempt + 1 == self._attempts:
                    raise Failed(
                        f"{method} {url}: {error.code} {error.read(500).decode(errors='replace')}",
                        code=f"http_{error.code}",
                        again=error.code in (429, 503) or (repeatable and error.code >= 500),
                    ) from None
                wait = error.headers.get("Retry-After") or ""
                time.sleep(min(float(wait) if wait.replace(".", "", 1).isdigit() else 2.0**attempt, 30.0))
            except (URLError, TimeoutError, ConnectionError) as error:
                refused = isinstance(getattr(error, "reason", error), ConnectionRefusedError)
                raise Failed(
                    f"{method} {url}: {error}", code="unreachable", again=refused or repeatable
                ) from error
            except ValueError as error:
                raise Failed(f"{method} {url}: the answer is no JSON: {error}", code="bad_service") from error
        raise AssertionError


def wait_until(ready: Callable[[], bool], limit: float, *, what: str, pause: float = 0.05) -> None:
    """Return when `ready` does. The pause between two tries doubles, up to two seconds.

    Raises:
        Failed: if it does not within `limit` seconds.
    """
    end = time.monotonic() + limit
    while not ready():
        if time.monotonic() >= end:
            raise Failed(f"{what} did not end within {limit:g} s", code="timeout", again=True)
        time.sleep(min(pause, max(end - time.monotonic(), 0.001)))
        pause = min(pause * 2, 2.0)
