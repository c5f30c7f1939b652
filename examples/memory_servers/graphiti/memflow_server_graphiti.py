"""The library graphiti-core as a memory server, with an embedded FalkorDB (falkordblite). One graph per space.

Items are facts (edges of the graph). Each names the messages that it comes from, and the period in which it is valid.
"""

import argparse
import asyncio
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memflow_memory_server import Failed, ForgetRequest, MemoryServer, Message, item, run
from memflow_memory_server.transports import parser

UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
"""The date of messages without one. The library needs a date, and that of the run would change with each run."""


@dataclass
class Space:
    """A graph: the library's object, the messages of its episodes, and the date of the last message."""

    name: str
    graphiti: Any
    messages: dict[str, Message] = field(default_factory=dict)
    """The message of each episode."""
    last: datetime = UNDATED


class GraphitiServer(MemoryServer):
    """graphiti-core: models extract entities and facts from each message, and invalidate facts that it contradicts."""

    name = "graphiti"

    def __init__(self, options: argparse.Namespace) -> None:
        # The library reports usage to a third party by default.
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="memflow-graphiti-"))
        self.given: Mapping[str, Mapping[str, str]] = {}
        self.database: Any = None
        self.clients: dict[str, Any] = {}
        self.spaces: dict[str, Space] = {}
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def version(self) -> str:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"{version('graphiti-core')}, falkordblite {version('falkordblite')}"
        except PackageNotFoundError as error:
            raise Failed(f"{error}: run this server with `uv run`") from None

    def settings(self) -> Mapping[str, Any]:
        return {
            "chat_model": self._model("chat"),
            "embedding_model": self._model("embed"),
            "search": "edges, RRF",
        }

    def can(self) -> Mapping[str, Any]:
        return {
            "as_of": "dates",
            "fork": True,
            "export": "live",
            "forget": ["message", "text"],
            "sources": "message",
            "dates": True,
            "design": {"merges": True},
            "models": "given" if {"chat", "embed"} <= self.given.keys() else "own",
        }

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        self.version()
        self.given = endpoints

    def reset(self, space: str) -> None:
        self._await(self._reset(space))

    def write(self, space: str, number: int, messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
        return self._await(self._write(self._space(space), messages))

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]]:
        return self._await(self._read(self._space(space), query, k))

    def export(self, space: str) -> Sequence[Mapping[str, Any]]:
        return self._await(self._export(self._space(space)))

    def forget(self, space: str, request: ForgetRequest) -> None:
        self._await(self._forget(self._space(space), request))

    def fork(self, space: str, to: str) -> None:
        self._await(self._fork(self._space(space), to))

    def close(self, space: str) -> None:
        if space in self.spaces:
            self._await(self._delete(self.spaces.pop(space).name))

    def shutdown(self) -> None:
        if self.database is not None:
            self._await(self._close_database())
        self.loop.call_soon_threadsafe(self.loop.stop)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def _space(self, space: str) -> Space:
        if space not in self.spaces:
            raise Failed(f"the space {space!r} does not exist; `reset` creates it", code="no_space")
        return self.spaces[space]

    def _model(self, use: str) -> str:
        if use in self.given:
            return self.given[use]["model"]
        return self.options.chat_model if use == "chat" else self.options.embedding_model

    def _open(self) -> None:
        from graphiti_core.cross_encoder.openai_reranker_client import OpenAIRerankerClient
        from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
        from graphiti_core.llm_client.config import LLMConfig
        from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
        from redislite.async_falkordb_client import AsyncFalkorDB

        self.database = AsyncFalkorDB(str(self.folder / "graphs.db"))
        _end_with_this_process(Path(self.database.connection.pidfile))
        chat, embed = self._address("chat"), self._address("embed")
        model = self._model("chat")
        config = LLMConfig(model=model, small_model=model, temperature=0.0, **chat)
        self.clients = {
            "llm_client": OpenAIGenericClient(config),
            "embedder": OpenAIEmbedder(OpenAIEmbedderConfig(embedding_model=self._model("embed"), **embed)),
            # The constructor wants a reranker. Reciprocal rank fusion, which is used here, does not call it.
            "cross_encoder": OpenAIRerankerClient(config),
        }

    def _address(self, use: str) -> dict[str, Any]:
        given = self.given.get(use)
        return {"base_url": given["url"], "api_key": given.get("key", "memflow")} if given else {}

    async def _reset(self, space: str) -> None:
        if self.database is None:
            self._open()
        name = _graph_name(space)
        await self._delete(name)
        self.spaces[space] = await self._attach(name)

    async def _attach(self, name: str) -> Space:
        from graphiti_core import Graphiti
        from graphiti_core.driver.falkordb_driver import FalkorDriver

        driver = FalkorDriver(falkor_db=self.database, database=name)
        if driver._init_task is not None:
            await driver._init_task
        return Space(name, Graphiti(graph_driver=driver, **self.clients))

    async def _close_database(self) -> None:
        with suppress(ConnectionError):  # the database ends before it answers
            await self.database.connection.shutdown(nosave=True)
        await self.database.connection.aclose()

    async def _delete(self, name: str) -> None:
        if name in await self.database.list_graphs():
            await self.database.select_graph(name).delete()

    async def _write(self, space: Space, messages: Sequence[Message]) -> list[dict[str, Any]]:
        failures = []
        for message in messages:
            if not message.text.strip():
                continue
            date = _date(message.sent_at)
            # Undated messages follow each other, because the library selects earlier episodes by date.
            space.last = date or space.last + timedelta(seconds=1)
            try:
                added = await space.graphiti.add_episode(
                    name=message.id,
                    episode_body=f"{message.speaker or message.role}: {message.text}",
                    source_description="a message of a conversation",
                    reference_time=space.last,
                    group_id=space.name,
                )
            except Exception as error:  # noqa: BLE001 - one message that a model answered badly must not lose the rest
                failures.append({"why": f"{type(error).__name__}: {error}"[:500], "sources": [message.id]})
            else:
                space.messages[added.episode.uuid] = message
        return failures

    async def _read(self, space: Space, query: str, k: int) -> list[dict[str, Any]]:
        from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF

        config = EDGE_HYBRID_SEARCH_RRF.model_copy(update={"limit": k})
        # Control characters are a syntax error of the full-text search, which the library does not escape.
        query = "".join(each if each.isprintable() else " " for each in query)
        found = await space.graphiti.search_(query, config=config, group_ids=[space.name])
        scores = found.edge_reranker_scores or [None] * len(found.edges)
        return [_item(space, edge, score) for edge, score in zip(found.edges, scores, strict=False)]

    async def _export(self, space: Space) -> list[dict[str, Any]]:
        from graphiti_core.edges import EntityEdge
        from graphiti_core.errors import GroupsEdgesNotFoundError

        try:
            edges = await EntityEdge.get_by_group_ids(space.graphiti.driver, [space.name])
        except GroupsEdgesNotFoundError:
            return []
        return [_item(space, edge) for edge in sorted(edges, key=lambda edge: (edge.created_at, edge.uuid))]

    async def _forget(self, space: Space, request: ForgetRequest) -> None:
        """Remove the episodes of messages that a request names, and the facts with all words of its text."""
        from graphiti_core.edges import EntityEdge

        for episode, message in list(space.messages.items()):
            if request.names(message.text, [message.id]):
                await space.graphiti.remove_episode(episode)
                del space.messages[episode]
        facts = [each["id"] for each in await self._export(space) if request.names(each["text"], ())]
        await EntityEdge.delete_by_uuids(space.graphiti.driver, facts)

    async def _fork(self, space: Space, to: str) -> None:
        name = _graph_name(to)
        await self._delete(name)
        await self.database.select_graph(space.name).copy(name)
        copy = await self._attach(name)
        # Searches filter by the group that each node and edge names.
        for part in ("MATCH (each)", "MATCH ()-[each]->()"):
            await copy.graphiti.driver.execute_query(f"{part} SET each.group_id = $group", group=name)
        copy.messages, copy.last = dict(space.messages), space.last
        self.spaces[to] = copy


def _end_with_this_process(pid_file: Path) -> None:
    """End the database when this process ends, also if it is killed: it is a daemon in a session of its own."""
    command = ["sh", "-c", "read _; kill -9 $0 2>/dev/null", pid_file.read_text().strip()]
    # The pipe is closed with this process, which ends `read`.
    subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)


def _graph_name(space: str) -> str:
    return f"space_{hashlib.sha256(space.encode()).hexdigest()[:24]}"


def _date(text: str | None) -> datetime | None:
    if not text:
        return None
    date = datetime.fromisoformat(text)
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _item(space: Space, edge: Any, score: float | None = None) -> dict[str, Any]:
    messages = [space.messages[each] for each in edge.episodes if each in space.messages]
    dates = [each.sent_at for each in messages if each.sent_at]
    valid = edge.valid_at is not None and edge.valid_at >= UNDATED + timedelta(days=1)
    # A fact whose period the model left open has the date of its first message.
    sent_at = edge.valid_at.isoformat() if valid else min(dates, default=None)
    text = edge.fact + (
        f" (not valid any more since {edge.invalid_at.isoformat()})" if edge.invalid_at else ""
    )
    return item(
        edge.uuid, text, score=score, sources=[each.id for each in messages], sent_at=sent_at, kind="fact"
    )


def main() -> None:
    """Run the server."""
    line = parser("The library graphiti-core, with an embedded FalkorDB, as a memory server for memflow.")
    line.add_argument("--chat-model", default="gpt-4.1-mini", help="model where memflow gives none")
    line.add_argument("--embedding-model", default="text-embedding-3-small")
    options = line.parse_args()
    run(GraphitiServer(options), options)


if __name__ == "__main__":
    main()
