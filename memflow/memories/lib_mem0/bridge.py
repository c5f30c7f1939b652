"""The bridge between the synchronous package mem0ai and memflow's asynchronous chat model and embedder.

The package runs in a thread; its requests are answered in the event loop, so that ledger, usage and limits apply. `Llm`
and `Embedding` are the provider classes that the package loads.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from memflow.chat.asking import parse_completion
from memflow.chat.limits import ItemReport, limit_output
from memflow.chat.requests import Chat, ChatMessage, ChatRequest
from memflow.errors import ChatError, FatalChatError
from memflow.memories.entries import Vector
from memflow.memories.lib_mem0.answers import Facts, Operations
from memflow.memories.memory import InputType
from memflow.timing import count_completion

T = TypeVar("T")

EXTRACT, UPDATE = "lib_mem0/extract", "lib_mem0/update"
"""Names of the package's two prompts; their field is `messages`."""
PATIENCE_S = 1.0
"""Seconds between checks whether the event loop still waits for the thread."""


@dataclass
class Bridge:
    """The connection of one package store to memflow's chat model and embedder, with vectors and errors so far."""

    chat: Chat
    embed: Callable[[Sequence[str], InputType], Awaitable[Vector]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The memory's parameters, which limit the answers."""
    vectors: dict[str, Vector] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    at_limit: list[str] = field(default_factory=list)
    """The strings and lists of answers that are as long as their limit."""
    requested_changes: int = 0
    """Number of changes that the model asked for."""
    fatal_error: ChatError | None = None
    """The error that must end the whole step."""
    _loop: asyncio.AbstractEventLoop | None = None

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """Run `work` in a new thread and return its result.

        The event loop's default threads are not used, since they may be needed to answer the requests of `work`.
        """
        self._loop = asyncio.get_running_loop()
        self.errors = []
        self.at_limit = []
        self.requested_changes = 0
        self.fatal_error = None
        thread = ThreadPoolExecutor(1)
        try:
            # The thread gets a copy of the context, so that its time counts for the operation (memflow/timing.py).
            return await self._loop.run_in_executor(thread, copy_context().run, work)
        finally:
            self._loop = None
            thread.shutdown(wait=False)

    async def embed_missing(self, texts: Sequence[str], input_type: InputType = "passage") -> None:
        """Embed the texts without a vector in one request, and store the vectors."""
        new_texts = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if new_texts:
            self.vectors.update(zip(new_texts, await self.embed(new_texts, input_type), strict=True))

    def vector(self, text: str, input_type: InputType) -> Vector:
        """Return the vector of a text. The package's thread calls this method."""
        if text not in self.vectors:
            self._wait(self.embed_missing([text], input_type))
        return self.vectors[text]

    def answer(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Send the package's messages to the chat model. Return the answer as text, without its invalid items."""
        return self._wait(self._answer(messages))

    async def _answer(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the model's answer as the package expects it, without its invalid items."""
        # The package sends its extraction with a system message, and its update without.
        is_extraction = messages[0]["role"] == "system"
        request = ChatRequest(
            EXTRACT if is_extraction else UPDATE,
            {"messages": "\n\n".join(message["content"] for message in messages)},
            tuple(
                ChatMessage("system" if is_extraction and not index else "user", message["content"])
                for index, message in enumerate(messages)
            ),
            replace(self.chat.sampling, max_tokens=self.chat.bound.of(None)),
            limit_output(Facts if is_extraction else Operations, self.parameters),
        )
        try:
            completion = await count_completion(self.chat.complete(request))
        except ChatError as chat_error:
            self.errors.append(f"{request.prompt}: {chat_error}")
            if isinstance(chat_error, FatalChatError):
                self.fatal_error = chat_error
            raise
        report = ItemReport()
        value, error = parse_completion(completion, request.output, report)
        self.errors += [f"{request.prompt}: {reason}" for reason in report.failed]
        self.at_limit += [f"{request.prompt}: {location}" for location in report.at_limit]
        if value is None:
            self.errors.append(f"{request.prompt}: {error}")
        elif isinstance(value, Facts):
            await self.embed_missing([fact for fact in value.facts if fact])
        else:
            changes = [change for change in value.memory if change.text and change.event != "NONE"]
            self.requested_changes = len(changes)
            await self.embed_missing([change.text for change in changes if change.event != "DELETE"])
        return value.model_dump_json() if report.failed and value is not None else completion.text

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the event loop, wait in this thread, and return the result.

        Raises RuntimeError if the event loop no longer waits for the write.
        """
        loop = self._loop
        if loop is None:
            work.close()
            raise RuntimeError("the event loop of this write has ended. Rerun the episode.")
        future = asyncio.run_coroutine_threadsafe(work, loop)
        while True:
            try:
                return future.result(PATIENCE_S)
            except TimeoutError:
                if future.done():
                    return future.result()
                if self._loop is not loop or loop.is_closed():
                    future.cancel()
                    raise RuntimeError("the event loop of this write has ended. Rerun the episode.") from None


class Llm:
    """The LLM provider that the package loads; its `config.model` is the bridge."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def generate_response(self, messages: Sequence[Mapping[str, str]], **options: Any) -> str:
        """Return the answer's text. JSON is requested by the answer's schema; tools are not supported."""
        answer: str = self.config.model.answer(messages)
        return answer


class Embedding:
    """The embedding provider that the package loads; its `config.model` is the bridge."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of a text: of a query if `memory_action` is search, else (add, update) of a passage."""
        input_type: InputType = "query" if memory_action == "search" else "passage"
        vector: list[float] = self.config.model.vector(text, input_type).tolist()
        return vector
