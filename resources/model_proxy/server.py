"""ModelProxy: the HTTP server of the model proxy, on loopback, for the memory servers of one event loop.

Each request has the key of an access (access.py), which decides the model, and under which partition the ledger records
the request. Requests without such a key are rejected, so that other programs on the machine cannot use the models.
"""

from contextlib import suppress

from aiohttp import web
from aiohttp.typedefs import Handler

from memflow.errors import MemflowError
from memflow.resources.model_proxy.access import ModelAccess
from memflow.resources.model_proxy.bodies import (
    FINAL,
    ReceivedChat,
    ReceivedEmbeddings,
    Rejection,
    completion_body,
    completion_events,
    embeddings_body,
    ends_step,
    error_body,
    error_of,
    parsed,
)
from memflow.tokens import estimate

HOST = "127.0.0.1"
MAX_BODY = 32 * 2**20
"""Maximum size of a request body in bytes."""
ACCESS = web.RequestKey("access", ModelAccess)
"""The key under which a request has its access."""


class ModelProxy:
    """The server of the model proxy: `async with ModelProxy() as proxy: ... proxy.url`. It ends with its context."""

    def __init__(self) -> None:
        self.port = 0
        self._accesses: dict[str, ModelAccess] = {}
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The base URL of the server."""
        return f"http://{HOST}:{self.port}/v1"

    async def __aenter__(self) -> "ModelProxy":
        application = web.Application(client_max_size=MAX_BODY, middlewares=[_with_error_responses])
        application.router.add_post("/v1/chat/completions", self._chat)
        application.router.add_post("/v1/embeddings", self._embeddings)
        application.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0, backlog=1024).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._accesses.clear()
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def admit(self, access: ModelAccess) -> ModelAccess:
        """Accept requests with the key of an access. Return the access."""
        access.url = self.url
        self._accesses[access.key] = access
        return access

    def withdraw(self, access: ModelAccess) -> None:
        """Reject further requests with the key of an access."""
        self._accesses.pop(access.key, None)

    async def _chat(self, received: web.Request) -> web.StreamResponse:
        access = self._access(received)
        chat = parsed(ReceivedChat, await received.read())
        _require_model(chat.model, access.chat_model)
        request = chat.request(access.chat.sampling, access.chat.bound.of(None))
        access.requests += 1
        completion = await access.chat.complete(request)
        if not chat.stream:
            return web.json_response(completion_body(completion, chat.model))
        with_usage = bool((chat.stream_options or {}).get("include_usage"))
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        await response.prepare(received)
        with suppress(ConnectionError):  # the client has left; the ledger has the answer
            for event in completion_events(completion, chat.model, with_usage=with_usage):
                await response.write(event)
            await response.write_eof()
        return response

    async def _embeddings(self, received: web.Request) -> web.Response:
        access = self._access(received)
        body = parsed(ReceivedEmbeddings, await received.read())
        if access.embedder is None:
            raise Rejection("no embedder is chosen. Choose one under [embedder] in memflow.toml.", 404)
        _require_model(body.model, access.embedding_model)
        access.requests += 1
        texts = body.texts()
        vectors = await access.embedder.embed(texts)
        if body.dimensions not in (None, vectors.shape[1]):
            raise Rejection(
                f"{body.model} has {vectors.shape[1]} dimensions, and {body.dimensions} were requested. Request as "
                "many as it has, or none."
            )
        tokens = sum(map(estimate, texts))
        encoded = body.encoding_format == "base64"
        return web.json_response(embeddings_body(vectors, body.model, tokens, encoded=encoded))

    async def _models(self, received: web.Request) -> web.Response:
        access = self._access(received)
        names = [name for name in (access.chat_model, access.embedding_model) if name]
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "memflow"} for name in names]
        return web.json_response({"object": "list", "data": data})

    def _access(self, received: web.Request) -> ModelAccess:
        """Return the access that a request has the key of, and store it in the request."""
        access = self._accesses.get(received.headers.get("Authorization", "").removeprefix("Bearer "))
        if access is None:
            raise Rejection(
                "the key is invalid. Use the key of `endpoints` in `hello`, or the variable MEMFLOW_MODEL_KEY; it is "
                "valid until the end of the run.",
                401,
                "invalid_api_key",
            )
        received[ACCESS] = access
        return access


def _require_model(name: str, known: str) -> None:
    if name != known:
        raise Rejection(
            f"the model {name!r} does not exist here. Use {known!r}, the model of `endpoints` in `hello`.",
            404,
            "model_not_found",
        )


@web.middleware
async def _with_error_responses(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer errors in OpenAI's form. An error that ends the step is also stored in the access, for the connection."""
    try:
        return await handler(request)
    except web.HTTPRequestEntityTooLarge:
        status, body = 413, error_body(f"memflow: the body is larger than {MAX_BODY} bytes. Send less text.")
    except web.HTTPException as unknown:
        text = (
            f"memflow: there is no {request.method} {request.path}. The model proxy has POST /v1/chat/completions, "
            "POST /v1/embeddings and GET /v1/models."
        )
        status, body = unknown.status, error_body(text)
    except Rejection as wrong:
        status, body = wrong.status, error_body(f"memflow: {wrong}", wrong.code)
    except MemflowError as error:
        access = request[ACCESS]
        if ends_step(error):
            access.failure = access.failure or error
        status, body = error_of(error)
    return web.json_response(body, status=status, headers=FINAL)
