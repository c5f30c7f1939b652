"""The tools of MCP servers are found in recorded lists of real servers, and in schemas of other forms."""

import json
from pathlib import Path
from typing import Any

import pytest

from memflow.errors import ServerFailed
from memflow.resources.memory_servers.mcp_tools import Tool, find_tools, result_items

LISTS = json.loads(Path(__file__).with_name("mcp_tool_lists.json").read_text(encoding="utf-8"))
ENTITY = {"name": "{id}", "entityType": "note", "observations": ["{text}"]}


@pytest.mark.parametrize(
    ("server", "write", "read"),
    [
        (
            "@modelcontextprotocol/server-memory 2026.8.31",
            Tool("create_entities", {"entities": [ENTITY]}),
            Tool("search_nodes", {"query": "{query}"}),
        ),
        (
            "mem0-mcp-server 0.2.1",
            Tool("add_memory", {"text": "{text}"}),
            Tool("search_memories", {"query": "{query}", "limit": "{k}"}),
        ),
        (
            "agent-logbook 0.1.1",
            Tool("remember", {"type": "note", "content": "{text}"}),
            Tool("recall", {"query": "{query}"}),
        ),
        (
            "agentmemdb 0.1.0",
            Tool("save_memory", {"topic": "{id}", "content": "{text}"}),
            Tool("search_memory", {"query": "{query}", "limit": "{k}"}),
        ),
    ],
)
def test_tools_of_real_servers_are_found_without_a_table(server: str, write: Tool, read: Tool) -> None:
    assert find_tools(LISTS[server], {}, server) == (write, read)


def tool(name: str, required: str = "", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return {"name": name, "inputSchema": schema}


TEXT, COUNT = {"type": "string"}, {"type": "integer"}
ADD, SEARCH = tool("add_note", "text", text=TEXT), tool("find_notes", "query", query=TEXT)


@pytest.mark.parametrize(
    ("write", "read", "arguments"),
    [
        (
            ADD,
            tool("recall", "text", text=TEXT, topK=COUNT),
            ({"text": "{text}"}, {"text": "{query}", "topK": "{k}"}),
        ),
        (
            tool("memory-store", "content", content=TEXT, user_id=TEXT, session_id=TEXT),
            tool("memory-search", "query", query={"anyOf": [{"type": "null"}, TEXT]}, user_id=TEXT),
            ({"content": "{text}", "user_id": "{space}"}, {"query": "{query}", "user_id": "{space}"}),
        ),
        (
            tool("save", "memory namespace", memory=TEXT, namespace=TEXT),
            SEARCH,
            ({"memory": "{text}", "namespace": "{space}"}, {"query": "{query}"}),
        ),
        (
            tool(
                "store", "text kind", text=TEXT, kind={"type": ["string", "null"], "enum": ["fact", "task"]}
            ),
            SEARCH,
            ({"text": "{text}", "kind": "fact"}, {"query": "{query}"}),
        ),
    ],
)
def test_arguments_follow_the_schema(write: Any, read: Any, arguments: Any) -> None:
    assert tuple(found.arguments for found in find_tools([write, read], {}, "x")) == arguments


@pytest.mark.parametrize(
    ("tools", "named", "message"),
    [
        (
            [SEARCH],
            {},
            r"x has no tool to write a memory\. Its tools are find_notes\. Name the tool in \[memories",
        ),
        ([ADD, tool("delete_note", "text", text=TEXT)], {}, "no tool to read a memory"),
        ([], {}, "Its tools are none"),
        (
            [ADD, SEARCH, tool("store_fact", "fact", fact=TEXT)],
            {},
            r"2 tools to write a memory \(add_note, store_fact\)\. Its tools are .*settings = \{ write = \"TOOL\"",
        ),
        ([ADD, SEARCH], {"write": "store"}, "no tool 'store' whose required arguments are known"),
        ([tool("put", "data", data={"type": "object"}), SEARCH], {}, "no tool to write"),
        ([tool("add_edge", "source text", source=TEXT, text=TEXT), SEARCH], {}, "no tool to write"),
    ],
)
def test_none_or_several_fitting_tools_are_a_sentence_with_all_tools(
    tools: list[Any], named: dict[str, str], message: str
) -> None:
    with pytest.raises(ServerFailed, match=message):
        find_tools(tools, named, "x")


def test_named_tool_is_used_whatever_its_name_says() -> None:
    write = tool("update_profile", "text", text=TEXT)
    found, _ = find_tools([ADD, write, SEARCH], {"write": "update_profile"}, "x")
    assert found == Tool("update_profile", {"text": "{text}"})


def text(*values: Any) -> dict[str, Any]:
    parts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return {"content": [{"type": "text", "text": part} for part in parts]}


@pytest.mark.parametrize(
    ("result", "items"),
    [
        (text({"entities": [{"name": "m1", "observations": ["a", "b"]}], "relations": []}), [("m1", "a\nb")]),
        (
            {"structuredContent": {"result": '{"memories": [{"id": 3, "content": "a"}], "n": 1}'}},
            [("3", "a")],
        ),
        (text({"results": [{"memory": {"id": "m", "text": "a"}, "score": 0.5}]}), [("m", "a")]),
        (
            text({"id": "1", "text": "a"}, {"id": "2", "text": "b"}, {"id": "1", "text": "a"}),
            [("1", "a"), ("2", "b")],
        ),
        (text({"results": []}), []),
        (text("no list here"), "no list here"),
    ],
)
def test_items_are_found_in_results_of_several_forms(result: Any, items: Any) -> None:
    found = result_items(result)
    assert (found if isinstance(found, str) else [(item["id"], item["text"]) for item in found]) == items


def test_texts_are_inserted_once_and_unchanged() -> None:
    filled = Tool("add", {"text": "{text}", "id": ["{id}"]}).filled(
        {"text": "{id} {query}", "id": "m1", "k": 3}
    )
    assert filled == {"text": "{id} {query}", "id": ["m1"]}
