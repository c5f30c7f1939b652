"""The tools of an MCP server that write and read memories, found by their names and the schemas of arguments.

mcp_tools.toml has the words. mcp_transport.py calls the tools.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from memflow.errors import ServerFailed

_WORDS = tomllib.loads(files(__package__).joinpath("mcp_tools.toml").read_text(encoding="utf-8"))
_SENT = {"write": "text", "read": "query"}
"""What one of the arguments has to be."""
_TEXTS = {"text": "{text}", "query": "{query}", "id": "{id}", "scope": "{space}"}
"""The placeholder of an argument that is a text."""


@dataclass(frozen=True)
class Tool:
    """A tool and its arguments: JSON with the placeholders {text}, {query}, {k}, {id} and {space}."""

    name: str
    arguments: Mapping[str, Any]

    def filled(self, values: Mapping[str, Any]) -> Any:
        """Return the arguments with the values of the placeholders."""
        return _filled(self.arguments, values)


def find_tools(
    tools: Sequence[Mapping[str, Any]], named: Mapping[str, str], server: str
) -> tuple[Tool, Tool]:
    """Return the tools for writing and reading among those of `tools/list`; `named` are those that the user named.

    A scope, such as a user, is sent only if both tools have it. Raises ServerFailed, with the names of all tools, if
    none or several fit.
    """
    write, read = (_chosen(tools, part, named.get(part), server) for part in ("write", "read"))
    shared = {name for name, value in write.arguments.items() if value == "{space}"} & {*read.arguments}
    required = {tool["name"]: {*tool["inputSchema"].get("required", ())} for tool in tools}

    def scoped(tool: Tool) -> Tool:
        sent = shared | required[tool.name]
        arguments = {key: value for key, value in tool.arguments.items() if value != "{space}" or key in sent}
        return Tool(tool.name, arguments)

    return scoped(write), scoped(read)


def _chosen(tools: Sequence[Mapping[str, Any]], part: str, name: str | None, server: str) -> Tool:
    """Return the only tool for a part, `write` or `read`. Raises ServerFailed."""
    fitting = _fitting(tools, part, name)
    if len(fitting) == 1:
        return fitting[0]
    problem, advice = f"no tool to {part} a memory", "Name the tool"
    if fitting:
        names = ", ".join(tool.name for tool in fitting)
        problem, advice = f"{len(fitting)} tools to {part} a memory ({names})", "Name one"
    elif name:
        problem = f"no tool {name!r} whose required arguments are known"
    names = ", ".join(tool["name"] for tool in tools) or "none"
    raise ServerFailed(
        f"the MCP server {server} has {problem}. Its tools are {names}. {advice} in [memories.NAME]: "
        'contract = "mcp", settings = { write = "TOOL", read = "TOOL" }'
    )


def _fitting(tools: Sequence[Mapping[str, Any]], part: str, name: str | None) -> list[Tool]:
    """Return the tools that can be called for a part: `write` or `read`."""
    fitting = []
    for tool in tools:
        words = {*_split(tool["name"])}
        is_verb = words.isdisjoint(_WORDS["tools"]["other"]) and words & {*_WORDS["tools"][part]}
        if name != tool["name"] and (name or not is_verb):
            continue
        for optional in ("", _SENT[part]):
            arguments = _arguments(tool["inputSchema"], tool["inputSchema"], optional)
            if part == "read":  # of a tool that requires a text, this is what it searches for
                arguments = _filled(arguments, {"text": "{query}"})
            if arguments and f'"{{{_SENT[part]}}}"' in json.dumps(arguments):
                fitting.append(Tool(tool["name"], arguments))
                break
    return fitting


def _arguments(schema: Mapping[str, Any], root: Mapping[str, Any], optional: str) -> dict[str, Any] | None:
    """Return the arguments of an object as a template; None if a required one is not known."""
    arguments: dict[str, Any] = {}
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        kind = _kind(name)
        value = None
        if name in required or kind in (optional, "limit", "scope"):
            value = _value(kind, _resolved(part, root), root, optional)
        if value is None and name in required:
            return None
        if value is not None:
            arguments[name] = value
    return arguments


def _value(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], optional: str) -> Any:
    """Return the value of an argument as a template; None if it is not known."""
    value: Any = None
    match schema.get("type"):
        case "array":
            element = _value(kind, _resolved(schema.get("items", {}), root), root, optional)
            value = None if element is None else [element]
        case "object":
            content = _arguments(schema, root, optional)
            value = content if content and "{text}" in json.dumps(content) else None
        case "integer" | "number" if kind == "limit":
            value = "{k}"
        case "string" | None if kind == "kind":
            choices = schema.get("enum", ("note",))
            value = "note" if "note" in choices else choices[0]
        case "string" | None:
            value = _TEXTS.get(kind)
    return value


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without `$ref`, and the first alternative that is not null."""
    for part in schema.get("anyOf", ()):
        if part.get("type") != "null":
            return _resolved(part, root)
    if reference := schema.get("$ref"):
        return _resolved(root.get("$defs", {}).get(reference.rpartition("/")[2], {}), root)
    types = schema.get("type")
    if isinstance(types, list):
        return {**schema, "type": next((name for name in types if name != "null"), None)}
    return schema


def _kind(name: str) -> str:
    """Return what an argument is: a key of [arguments]; empty if it is not known."""
    words = _split(name)
    whole = "_".join(words)
    for kind, known in _WORDS["arguments"].items():
        if whole in known or (kind in ("text", "query", "kind") and words[-1] in known):
            return str(kind)
    return ""


def _split(name: str) -> list[str]:
    """Return the words of a name, in lower case and in the singular."""
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name) or [name]
    return [word.lower().removesuffix("s") if len(word) > 1 else word.lower() for word in words]


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, dict):
        return {name: _filled(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    return (
        values.get(template[1:-1], template)
        if isinstance(template, str) and template[:1] == "{"
        else template
    )


def result_items(result: Mapping[str, Any]) -> list[dict[str, Any]] | str:
    """Return the items (`id`, `text`) of a tool's result, best first, or its text if it has no list of items."""
    texts = [part.get("text", "") for part in result.get("content", ()) if part.get("type") == "text"]
    for value in (result.get("structuredContent"), *([texts] if len(texts) > 1 else texts)):
        for rows in _lists(value):
            items = [item for row in rows if (item := _item(row))]
            if items or not rows:
                by_id: dict[str, dict[str, Any]] = {}
                for item in items:
                    by_id.setdefault(item["id"], item)
                return list(by_id.values())
    return "\n".join(texts).strip()


def _lists(value: Any) -> Iterator[list[Any]]:
    """Yield the lists in a result, the outer ones first. A text may be JSON."""
    value = _parsed(value)
    if isinstance(value, list):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _lists(part)


def _parsed(value: Any) -> Any:
    """Return the object or list of a JSON text, and any other value as it is."""
    with suppress(ValueError, TypeError):
        parsed = json.loads(value)
        return parsed if isinstance(parsed, dict | list) else value
    return value


def _item(row: Any) -> dict[str, Any] | None:
    """Return an element of a list as an item; None if it has no text."""
    row = _parsed(row)
    row = {"text": row} if isinstance(row, str) else row
    if not isinstance(row, dict):
        return None
    known = {"_".join(_split(name)): value for name, value in row.items()}
    text, key = (
        next((known[word] for word in _WORDS["results"][part] if known.get(word) not in (None, "", [])), None)
        for part in ("text", "id")
    )
    if isinstance(text, dict):  # a result around the memory
        return _item(text)
    text = "\n".join(map(str, text)) if isinstance(text, list) else str(text or "")
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return {"id": str(key or digest), "text": text} if text.strip() else None
