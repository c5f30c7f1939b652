"""ASGI middleware for Dagster's web server: only requests of its own pages and of programs reach the server.

A browser sends the requests of any web page to any address, and Dagster's server executes a mutation from a plain form,
a link or a WebSocket, under any host name. docs/how-to/deploy.md describes the threats.
"""

from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS_VARIABLE = "MEMFLOW_UI_HOSTS"
"""The environment variable with the host names of a deployment, separated by spaces."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
JSON = "application/json"


class OwnerRequests:
    """Middleware that refuses, with a sentence, every request that a page of another origin could have sent.

    The WebSocket is checked before it is accepted. `hosts` are names that are accepted beside those of the loopback
    address.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.hosts = {name.lower() for name in (*LOOPBACK, *hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with status 403 (who asks) or 400 (how it asks)."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            for status, reason in ((403, self._stranger(scope, headers)), (400, _form_fault(scope, headers))):
                if reason:
                    await PlainTextResponse(f"{reason}\n", status)(scope, receive, send)
                    return
        await self.app(scope, receive, send)

    def _stranger(self, scope: Scope, headers: Headers) -> str:
        """Return why a request does not come from a page of this server or from a program; empty if it may."""
        hosts = headers.getlist("host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        name, _, port = host.rpartition(":")
        if (name if port.isdigit() else host) not in self.hosts:
            return (
                f"This server does not answer requests to the host {', '.join(hosts)!r}. Open it under one of "
                f"{', '.join(sorted(self.hosts))}, or add the host name to {HOSTS_VARIABLE} or "
                "`memflow dev --allow-host`, and restart it."
            )
        foreign = [origin for origin in headers.getlist("origin") if _host_of(origin) != host]
        if foreign:
            return (
                f"This server does not answer requests of pages of another origin ({foreign[0]!r}; its own host is "
                f"{host!r}). Behind a proxy, pass the header Host on unchanged."
            )
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not _is_navigation(
            scope, headers
        ):
            return "This server does not answer requests of pages of another site. Open its address in the browser."
        return ""


def _host_of(origin: str) -> str:
    """Return the host and port of the origin of a web page; empty for `null` and other schemes than HTTP."""
    scheme, _, host = origin.lower().partition("://")
    return host if scheme in ("http", "https") else ""


def _is_navigation(scope: Scope, headers: Headers) -> bool:
    """Return whether a user follows a link to a page of this server. A page in another page's iframe is none."""
    document = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    return scope["type"] == "http" and scope["method"] == "GET" and document


def _form_fault(scope: Scope, headers: Headers) -> str:
    """Return why a request has a form that pages of any origin may send without asking; empty if it has none."""
    if scope["type"] == "websocket":
        return ""
    if scope["method"] not in ("GET", "HEAD"):
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if (scope["method"], media_type) != ("POST", JSON):
            return f"This server accepts changes only as POST with Content-Type: {JSON}. Send the request so."
    elif scope["path"].rstrip("/").endswith("/graphql") and scope["query_string"]:
        return (
            f"This server accepts GraphQL only as POST with Content-Type: {JSON}. Send the query in the body."
        )
    return ""
