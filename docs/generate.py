"""The reference pages, generated from the code when the site is built (an MkDocs hook).

The values come from the program: the command tree, the settings model, the row types, the rules, and the JSON of
`memflow memories`, `domains` and `data`. Prose belongs in the other pages.
"""

import contextlib
import json
import os
import re
import tempfile
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from typer.main import get_command
from typer.testing import CliRunner

from memflow.checks.expectations import expectations_of
from memflow.cli import app
from memflow.records import KEYS, TABLES, columns
from memflow.resources.data.data_folder import default_data_folder
from memflow.resources.settings.settings import Settings


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to the site and return all its files (called by MkDocs)."""
    for name, page in PAGES.items():
        files.append(File.generated(config, f"reference/{name}.md", content=page()))
    files.append(File.generated(config, "index.md", content=home()))
    return files


def home() -> str:
    """Return README.md as the first page: links into docs/ are relative, other files of the repository are no links."""
    text = (
        Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    )
    return re.sub(r"(?<!!)\[([^]]+)\]\([A-Z]+\.md\)", r"\1", text)


def cli() -> str:
    """Return the Markdown page of all commands with their arguments and options."""
    return "\n\n".join(
        ["# Command line", "`memflow --help` and `memflow COMMAND --help` show the same.", *_commands()]
    )


def settings() -> str:
    """Return the Markdown page of all keys of memflow.toml."""
    head = (
        "`memflow init` writes a commented `memflow.toml`. A key is also the environment variable `MEMFLOW_KEY`, which "
        "overrides the file; options of the command line override both."
    )
    return "\n\n".join(["# Settings", head, *_sections(Settings, "")])


def tables() -> str:
    """Return the Markdown page of all tables: grain, key and columns."""
    parts = [
        "# Tables",
        "A table `stage.name` is the Dagster asset `stage/name`, a view in `memflow sql`, and Parquet.",
    ]
    for name, row in TABLES.items():
        grain = _first(row.__doc__)
        key = ", ".join(f"`{each}`" for each in KEYS[name])
        cells = [
            (f"`{each.name}`", _type(each.type) + (" or null" if each.nullable else ""), each.description)
            for each in columns(name)
        ]
        parts += [f"## {name}", f"{grain} Key: {key}.", _table(("column", "type", "meaning"), cells)]
    return "\n\n".join(parts)


def memories() -> str:
    """Return the Markdown page of all memory systems with their parameters."""
    parts = [
        "# Memories",
        "The name is the system, then its numbers in order: `rag_2_4_30` is `rag[_FREQ_NS_K]`.",
    ]
    for each in _json("memories"):
        parts += [f"## {each['memory']}", f"`{each['pattern']}`: {each['summary']}"]
        parts.append(f"Source: {each['paper'] or each['origin']}. Requests: {each['asks']}.")
        cells = [
            (
                f"`{p['name']}`",
                f"`{p['default']}`" if p["default"] != "" else "empty",
                _range(p),
                p["description"],
            )
            for p in each["parameters"]
        ]
        parts += [_table(("parameter", "default", "allowed", "meaning"), cells)] if cells else []
    return "\n\n".join(parts)


def domains() -> str:
    """Return the Markdown page of all built-in domains and data sets."""
    parts = [
        "# Domains and data sets",
        "A domain is a partition of the graph: a benchmark with its data and parameters.",
    ]
    cells = [
        (
            f"`{d['domain']}`",
            d["benchmark"],
            d["title"],
            _codes(d["datasets"]),
            _codes(_pairs(d["parameters"])),
        )
        for d in _json("domains")
    ]
    parts.append(_table(("domain", "benchmark", "what it is", "data sets", "parameters"), cells))
    parts += [
        "## Data sets",
        "`memflow data` shows which files are present, their checksums and how to get the others.",
    ]
    for each in _json("data")["datasets"]:
        parts += [
            f"### {each['dataset']}",
            f"{each['title']}. {each['benchmark']}. License: {each['licence']}. From: {each['origin']}.",
            f"Files: {_codes(each['files'])}" if each["files"] else "Ships with memflow.",
        ]
    return "\n\n".join(parts)


def checks() -> str:
    """Return the Markdown page of all rules of all tables."""
    parts = [
        "# Checks",
        "A rule of severity `error` stops the steps downstream of its table; a `warn` stops nothing. "
        "`memflow checks` evaluates them.",
    ]
    for table in TABLES:
        cells = [
            (f"`{each.name}`", each.severity, each.benchmark or "all", each.description)
            for each in expectations_of(table)
        ]
        parts += (
            [f"## {table}", _table(("rule", "severity", "benchmark", "property"), cells)] if cells else []
        )
    return "\n\n".join(parts)


PAGES: Mapping[str, Callable[[], str]] = {
    "cli": cli,
    "settings": settings,
    "tables": tables,
    "memories": memories,
    "domains": domains,
    "checks": checks,
}


def _commands() -> Iterator[str]:
    def visit(command: Any, path: str) -> Iterator[str]:
        if command.hidden:
            return
        yield f"{'##' if path.count(' ') < 2 else '###'} {path}"
        yield _escaped((command.help or "").strip())
        options = [_option(each) for each in command.params if not getattr(each, "hidden", False)]
        yield from [_table(("option", "default", "meaning"), options)] if options else []
        if hasattr(command, "list_commands"):
            context = command.context_class(command, info_name=path)
            for name in command.list_commands(context):
                yield from visit(command.get_command(context, name), f"{path} {name}")

    yield from visit(get_command(app), "memflow")


def _option(parameter: Any) -> tuple[str, str, str]:
    names = [*parameter.opts, *parameter.secondary_opts] if parameter.opts[0].startswith("-") else []
    shown = ", ".join(f"`{name}`" for name in names) or f"`{(parameter.metavar or parameter.name).upper()}`"
    default = (
        "" if callable(parameter.default) or parameter.default in (None, False, [], ()) else parameter.default
    )
    shown_default = getattr(default, "value", default)
    required = "required" if parameter.required else ""
    return (
        shown,
        f"`{shown_default}`" if shown_default != "" else required,
        getattr(parameter, "help", "") or "",
    )


def _sections(model: type[BaseModel], path: str) -> Iterator[str]:
    """Yield the keys of a section as a Markdown table, followed by its subsections."""
    inner: list[tuple[str, type[BaseModel]]] = []
    cells = []
    for name, field in model.model_fields.items():
        nested, repeated = _nested(field.annotation)
        if nested:
            inner.append((f"{path}.{name}".strip(".") + (".NAME" if repeated else ""), nested))
            continue
        default = (
            "required"
            if field.default is PydanticUndefined and not field.default_factory
            else field.get_default(call_default_factory=True)
        )
        if field.default_factory is default_data_folder:
            default = None  # differs between machines; the description states it
        shown = "" if default is None else str(list(default) if isinstance(default, tuple) else default)
        cells.append(
            (f"`{name}`", _type(field.annotation), f"`{shown}`" if shown else "", field.description or "")
        )
    yield f"## [{path}]" if path else "## Top level"
    yield _first(model.__doc__)
    yield _table(("key", "type", "default", "meaning"), cells)
    for where, section in inner:
        yield from _sections(section, where)


def _nested(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """Return the settings model in an annotation, and whether the annotation is a dictionary of such models."""
    parts = typing.get_args(annotation)
    for each in (annotation, *parts):
        if isinstance(each, type) and issubclass(each, BaseModel):
            return each, typing.get_origin(annotation) is dict
    return None, False


def _json(command: str) -> Any:
    """Return the JSON output of a command, parsed, with the built-in settings."""
    environment = {name: None for name in os.environ if name.startswith("MEMFLOW_")}
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
        return json.loads(CliRunner().invoke(app, [command, "--format", "json"], env=environment).stdout)


def _type(annotation: Any) -> str:
    if typing.get_origin(annotation) is typing.Literal:
        return ", ".join(f"`{each}`" for each in typing.get_args(annotation))
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return " or ".join(_type(each) for each in typing.get_args(annotation) if each is not type(None))
    if typing.get_args(annotation):
        inner = typing.get_args(annotation)
        kind = "table" if typing.get_origin(annotation) is dict else "list"
        return f"{kind} of {_type(inner[-1] if kind == 'table' else inner[0])}"
    return {"str": "text", "bool": "true or false", "Any": "any value", "Path": "path"}.get(
        annotation.__name__, annotation.__name__
    )


def _range(parameter: Mapping[str, Any]) -> str:
    if parameter["choices"]:
        return _codes(parameter["choices"])
    low, high = parameter["low"], parameter["high"]
    return " ".join(
        [f"from {low}" if low is not None else "", f"to {high}" if high is not None else ""]
    ).strip()


def _first(doc: str | None) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return _escaped(" ".join((doc or "").strip().split("\n\n")[0].split()))


def _escaped(text: str) -> str:
    """Return the text with every `<` outside of code escaped."""
    return re.sub(r"<(?=[^`]*(?:`[^`]*`[^`]*)*$)", "&lt;", text)


def _codes(values: Iterable[Any]) -> str:
    return ", ".join(f"`{each}`" for each in values)


def _pairs(parameters: Mapping[str, Any]) -> Iterator[str]:
    return (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in parameters.items())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(" ".join(_escaped(str(cell)).replace("|", "\\|").split()) for cell in line) + " |"
        for line in lines
    )
