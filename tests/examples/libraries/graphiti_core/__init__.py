"""A fake of graphiti-core: each episode is one fact. Searches filter by group, and each graph is a database of its own.

All modules that the adapter imports are this one.
"""

import re
import subprocess
import sys
import uuid as identifiers
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

GRAPHS = {}
"""The edges of each graph, by its name."""


@dataclass
class EntityEdge:
    """A fact."""

    uuid: str
    fact: str
    episodes: list[str]
    group_id: str
    created_at: int
    valid_at: datetime | None
    invalid_at: datetime | None = None

    @classmethod
    async def get_by_group_ids(cls, driver, groups):
        found = [edge for edge in GRAPHS.get(driver.database, []) if edge.group_id in groups]
        if not found:
            raise GroupsEdgesNotFoundError
        return found

    @classmethod
    async def delete_by_uuids(cls, driver, uuids):
        edges = GRAPHS[driver.database]
        edges[:] = [edge for edge in edges if edge.uuid not in uuids]


class GroupsEdgesNotFoundError(Exception):
    """There are no edges."""


class LLMConfig:
    """Settings of a client."""

    def __init__(self, **settings):
        self.settings = settings


class OpenAIGenericClient(LLMConfig):
    """A client."""

    def __init__(self, config):
        super().__init__(**config.settings)


class OpenAIEmbedder(OpenAIGenericClient):
    """An embedder."""


OpenAIEmbedderConfig = LLMConfig
OpenAIRerankerClient = OpenAIGenericClient


@dataclass
class SearchConfig:
    """The settings of a search."""

    limit: int = 10

    def model_copy(self, update):
        return replace(self, **update)


EDGE_HYBRID_SEARCH_RRF = SearchConfig()


class FalkorDriver:
    """A graph of the database."""

    def __init__(self, falkor_db, database):
        self.database, self._init_task = database, None
        GRAPHS.setdefault(database, [])

    async def execute_query(self, query, group):
        assert "SET each.group_id = $group" in query
        for edge in GRAPHS[self.database]:
            edge.group_id = group


class AsyncFalkorDB:
    """The embedded database."""

    def __init__(self, path):
        self.connection, self.pidfile = self, f"{path}.pid"
        # A process that ends with the test only if the adapter ends it.
        daemon = subprocess.Popen(["sleep", "600"], start_new_session=True)
        Path(self.pidfile).write_text(f"{daemon.pid}\n")

    async def list_graphs(self):
        return list(GRAPHS)

    def select_graph(self, name):
        return SelectedGraph(name)

    async def shutdown(self, nosave):
        raise ConnectionError("the database ended")

    async def aclose(self):
        pass


class SelectedGraph:
    """A graph that is copied or deleted."""

    def __init__(self, name):
        self.name = name

    async def delete(self):
        del GRAPHS[self.name]

    async def copy(self, name):
        GRAPHS[name] = [replace(edge) for edge in GRAPHS[self.name]]


@dataclass
class Results:
    """The answer to a search or an addition."""

    edges: list = field(default_factory=list)
    edge_reranker_scores: list = field(default_factory=list)
    uuid: str = ""

    @property
    def episode(self):
        return self


class Graphiti:
    """The library's object."""

    def __init__(self, graph_driver, llm_client, embedder, cross_encoder):
        self.driver = graph_driver

    async def add_episode(self, name, episode_body, source_description, reference_time, group_id):
        if "unclear" in episode_body:
            raise ValueError("the model answered no JSON")
        episode, edges = str(identifiers.uuid4()), GRAPHS[self.driver.database]
        for edge in edges:
            if "contradicts" in episode_body:
                edge.invalid_at = reference_time
        edges.append(
            EntityEdge(
                str(identifiers.uuid4()), episode_body, [episode], group_id, len(edges), reference_time
            )
        )
        return Results(uuid=episode)

    async def remove_episode(self, episode):
        """Remove an episode and the facts that come from it first."""
        edges = GRAPHS[self.driver.database]
        edges[:] = [edge for edge in edges if edge.episodes[0] != episode]

    async def search_(self, query, config, group_ids):
        wanted = set(re.findall(r"\w+", query.lower()))
        edges = [edge for edge in GRAPHS[self.driver.database] if edge.group_id in group_ids]
        scored = [(len(wanted & set(re.findall(r"\w+", edge.fact.lower()))), edge) for edge in edges]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[: config.limit]
        return Results([edge for _, edge in best], [float(score) for score, _ in best])


for name in (
    "cross_encoder",
    "cross_encoder.openai_reranker_client",
    "driver",
    "driver.falkordb_driver",
    "edges",
    "embedder",
    "embedder.openai",
    "errors",
    "llm_client",
    "llm_client.config",
    "llm_client.openai_generic_client",
    "search",
    "search.search_config_recipes",
):
    sys.modules[f"{__name__}.{name}"] = sys.modules[__name__]
