"""HTTP servers in the process of a test, which answer every request with a function."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

Answer = Callable[[Any, str], web.StreamResponse]
"""Returns the response to a chat request, given the request with its `body` and the text of its last message."""


@asynccontextmanager
async def local_server(
    handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Run a server, and yield its address, which ends with the path /v1."""
    runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def chat_server(answer: Answer) -> AsyncIterator[str]:
    """Run a server that answers chat requests with `answer`, and other requests with 404."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            return web.Response(status=404)
        request["body"] = await request.json()
        return answer(request, request["body"]["messages"][-1]["content"])

    async with local_server(handle) as url:
        yield url
