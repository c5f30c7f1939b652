"""A memory of memflow behind the contract of aml.py: /health, /add and /search on the loopback address."""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import BaseModel, ValidationError

from memflow.errors import BadInput, MemflowError
from memflow.memories.entries import EntryStore
from memflow.memories.external import ExternalMemory
from memflow.memories.memory import FAILURE, Memory, Message
from memflow.memories.server.protocol import LONGEST_LINE
from memflow.resources.memory_servers.aml import AddRequest, SearchRequest, created_at, date_of, plain_text
from memflow.resources.memory_servers.aml_journal import Journal

R = TypeVar("R", bound=BaseModel)
HOST = "127.0.0.1"
LONGEST_SPEAKER = 3
"""Words of a name."""
_LOG = logging.getLogger("memflow")


@dataclass
class _User:
    """The memory of a user, and the dates of its messages. It is built from the journal when it is first needed."""

    memory: Memory | None = None
    dates: dict[str, int] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class AmlServer:
    """The users of a served memory. `create` returns the memory on a store. It belongs to one event loop."""

    def __init__(self, create: Callable[[EntryStore], Memory], journal: Journal) -> None:
        self._create = create
        self._journal = journal
        self._users: dict[str, _User] = {}

    async def health(self, _: web.Request) -> web.Response:
        """Answer that the server runs."""
        return web.json_response({"ok": True})

    async def add(self, request: web.Request) -> web.Response:
        """Store a session once. The answer means that it is on the disk and can be found."""
        add = await _received(request, AddRequest)
        user = self._users.setdefault(add.user_id, _User())
        async with user.turn:
            state = self._journal.state(add)
            if state is False:
                return _refusal(
                    409,
                    f"the request {add.request_id!r} has another content than before. Use a new request_id.",
                )
            if state is None:
                memory = await self._memory(add.user_id, user)
                try:
                    await _write(memory, add, user)
                    self._journal.append(add)
                except BaseException:
                    user.memory = None  # a part of the session may be in it
                    raise
        names = add.model_dump(include={"request_id", "user_id", "session_id"})
        return web.json_response({"success": True, **names})

    async def search(self, request: web.Request) -> web.Response:
        """Return the memories that a user's memory recalls, best first; the newest first if it has no ranking."""
        search = await _received(request, SearchRequest)
        if not self._journal.knows(search.user_id):
            return web.json_response({"data": []})
        user = self._users.setdefault(search.user_id, _User())
        async with user.turn:
            memory = await self._memory(search.user_id, user)
            recall = await memory.read(plain_text(search.query))
        entries = recall.ranked if memory.ranks_entries else recall.entries[::-1]
        data = []
        for entry in entries[: search.top_k]:
            dates = [user.dates[source] for source in entry.sources if source in user.dates]
            row = {"id": entry.entry_id, "content": entry.text}
            data.append({**row, "created_at": created_at(dates[0])} if dates else row)
        if not data and recall.notes:
            data = [{"id": "notes", "content": recall.notes}]
        return web.json_response({"data": data})

    async def _memory(self, user_id: str, user: _User) -> Memory:
        """Return the memory of a user, with all sessions of the journal."""
        if user.memory is None:
            memory = self._create(EntryStore())
            if isinstance(memory, ExternalMemory):
                await memory.on_start(user_id)
            for add in self._journal.adds(user_id):
                await _write(memory, add, user)
            user.memory = memory
        return user.memory


def _speaker(content: str) -> tuple[str | None, str]:
    """Return the speaker that a content begins with, and the rest: `Ann Lee: Hello`. The contract has only roles."""
    name, colon, text = content.partition(": ")
    words = name.split(" ")
    is_name = (
        colon
        and len(words) <= LONGEST_SPEAKER
        and all(word[:1].isalpha() and not word[:1].islower() for word in words)
    )
    return (name, text) if is_name else (None, content)


async def _write(memory: Memory, add: AddRequest, user: _User) -> None:
    """Write a session to a memory."""
    messages = []
    for number, message in enumerate(add.messages):
        name = f"{add.request_id}/{number}"
        date = None if message.timestamp is None else date_of(message.timestamp)
        speaker, text = _speaker(plain_text(message.content))
        messages.append(Message(name, message.role, text, speaker, date))
        if message.timestamp is not None:
            user.dates[name] = message.timestamp
    if not messages:
        return
    version = memory.store.version
    memory.store.advance(len(messages))
    await memory.write(messages)
    for entry in memory.store.changes(version):
        if entry.kind == FAILURE:
            _LOG.warning("the session %s of the user %s: %s", add.session_id, add.user_id, entry.text)


@asynccontextmanager
async def running_server(
    server: AmlServer, port: int, key: str = "", hosts: Collection[str] = ()
) -> AsyncIterator[str]:
    """Run a server, and yield its address. Port 0 chooses a free one.

    With a key, requests need it. `hosts` are further names under which the server is reached, such as that of a proxy.
    Raises BadInput if the port is in use.
    """
    application = web.Application(
        client_max_size=LONGEST_LINE, middlewares=[_with_refusals, _only({HOST, "localhost", *hosts}, key)]
    )
    application.router.add_get("/health", server.health)
    application.router.add_post("/add", server.add)
    application.router.add_post("/search", server.search)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            raise BadInput(
                f"the port {port} of {HOST} cannot be used ({error.strerror}). Choose another with --port."
            ) from error
        yield f"http://{HOST}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _only(hosts: Collection[str], key: str) -> Any:
    """Return the middleware that refuses other hosts (DNS rebinding), forms of web pages, and a wrong key."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.url.host not in hosts:
            return _refusal(
                403, f"this server does not answer as {request.url.host}. Allow the name with --allow-host."
            )
        if request.method == "POST" and request.content_type != "application/json":
            return _refusal(415, "the body has to be JSON. Set the header Content-Type: application/json.")
        if key and request.path != "/health":
            scheme, _, word = request.headers.get("Authorization", "").partition(" ")
            word = (
                word.strip()
                if scheme.lower() in ("bearer", "token")
                else request.headers.get("X-Api-Key", "")
            )
            if not hmac.compare_digest(word.encode(errors="surrogateescape"), key.encode()):
                return _refusal(
                    401, "the key is wrong. Send it as Authorization: Bearer, Token, or as X-Api-Key."
                )
        return await handler(request)

    return check


@web.middleware
async def _with_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _refusal(
            error.status, f"{error.reason}: this server has GET /health, POST /add and POST /search."
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the beginning"
        return _refusal(400, f"the body is invalid at {place}: {first['msg']}.")
    except MemflowError as error:
        _LOG.warning("%s failed: %s", request.path, error)
        return _refusal(503, str(error))


async def _received(request: web.Request, kind: type[R]) -> R:
    return kind.model_validate_json(await request.read())


def _refusal(status: int, why: str) -> web.Response:
    return web.json_response({"error": why}, status=status)
