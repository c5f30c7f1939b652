"""The reference pages and the tables in other pages, generated from the code when the site is built (an MkDocs hook).

The values come from the program: the command tree, the settings model, the row types, the pipeline, the metrics, the
protocol points, the rules, and the JSON of `memflow memories`, `domains` and `data`. Prose belongs in the other pages,
where a comment `<!-- table NAME -->` stands for a table.
"""

import ast
import contextlib
import inspect
import itertools
import json
import os
import posixpath
import re
import tempfile
import textwrap
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

from memflow.benchmarks.registry import protocol, specs
from memflow.checks.expectations import expectations_of
from memflow.cli import app
from memflow.pipeline import STEPS, WRITERS
from memflow.records import KEYS, TABLES, columns
from memflow.resources.settings.fields import default_data_folder
from memflow.resources.settings.settings import Settings
from memflow.scoring.catalog import SHARED, catalog, declared_metrics

MARKER = re.compile(r"<!-- table (\w+)(?: (\w+))? -->")
RESOURCES = Path(__file__).parents[1] / "resources"
NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebook" / "memory_in_a_cell.ipynb"
LEGEND = (
    '"–" means that a source does not specify a point, "absent" that the code does not implement it, and "the same" '
    "refers to the column to the left. `memflow show deviations DOMAIN` lists the points in which a run differs from "
    "the paper or the code."
)
"""What stands above each table of protocol points."""
WORKFLOW = Path(__file__).parents[1] / "examples" / "ci" / "gate.yml"


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


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the text of a page with its tables in place of their markers (called by MkDocs).

    Raises:
        KeyError: No table has the name of a marker.
    """

    def replacement(marker: re.Match[str]) -> str:
        name, argument = marker.groups()
        return _links_from(page.file.src_uri, INSERTED[name](*filter(None, [argument])))

    return MARKER.sub(replacement, markdown)


def _links_from(page: str, text: str) -> str:
    """Return Markdown whose links begin at docs/, with links that begin at the folder of a page."""
    folder = posixpath.dirname(page)
    return re.sub(r"\]\(([^)#:]+)", lambda link: f"]({posixpath.relpath(link[1], folder or '.')}", text)


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
        parts.append(
            f"Source: {each['paper'] or each['origin']}. Requests: {each['asks']}. Forgets by {each['forgets']}."
        )
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
        points = [(point["topic"], point["published"], point["memflow"]) for point in each["deviations"]]
        parts += [_table(("differs in", "paper or published code", "memflow"), points)] if points else []
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
    return "\n\n".join([*parts, *_papers()])


def _papers() -> Iterator[str]:
    """Yield the tables and figures of each paper: the command, and what is missing to run it without downloads."""
    yield "## Tables of papers"
    yield (
        "`memflow run --paper TABLE --model NAME` runs the domains, assistants, profile and repeats of a table; "
        "`--limit N` takes a sample, and `memflow show paper TABLE` prints it beside the published values."
    )
    rows = _json("papers")
    for paper in dict.fromkeys(row["paper"] for row in rows):
        of_paper = [row for row in rows if row["paper"] == paper]
        cells = []
        for row in of_paper:
            data = f"data: {_codes(row['missing'])}" if row["missing"] else ""
            models = f"models: {', '.join(row['models'])}" if row["command"] and row["models"] else ""
            missing = row["unavailable"] or "; ".join(filter(None, (data, models, row["note"])))
            command = f"`{row['command']}`" if row["command"] else ""
            cells.append((f"{row['name']}: {row['title']}", command, missing))
        yield f"### {of_paper[0]['paper_title']}"
        yield f"{of_paper[0]['source']}."
        yield _table(("table", "command", "what it needs"), cells)


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


def pipeline() -> str:
    """Return the table of the steps of the pipeline."""
    cells = [
        (
            f"`{step.name}`",
            _table_names(step.writes),
            step.scope,
            _table_names(step.inputs),
            ", ".join(step.models),
            step.description,
        )
        for step in STEPS
    ]
    return _table(("step", "tables", "partition", "inputs", "models", "what it does"), cells)


def resource_folders() -> str:
    """Return the table of the folders of resources, with the first paragraphs of their docstrings."""
    cells = []
    for path in sorted(RESOURCES.glob("*/__init__.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        cells.append((f"`{path.parent.name}`", _first(docstring)))
    return _table(("folder", "contains"), cells)


def notebook() -> str:
    """Return the cells of the example notebook below its title, with their stored outputs."""
    parts = []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"][1:]:
        parts.append(f"```python\n{''.join(cell['source'])}\n```")
        for output in cell["outputs"]:
            data = {kind: "".join(content) for kind, content in output.get("data", {}).items()}
            if image := data.get("image/png", "").replace("\n", ""):
                parts.append(f'<img alt="The figure of the cell" src="data:image/png;base64,{image}">')
            elif "text/html" in data:
                content = data["text/html"].replace(' border="1" class="dataframe"', "")
                parts.append(f"<div>{content}</div>")
    return "\n\n".join(parts)


def workflow() -> str:
    """Return the example workflow of continuous integration as a code block."""
    return f"```yaml\n{WORKFLOW.read_text(encoding='utf-8').rstrip()}\n```"


def metrics() -> str:
    """Return the table of the metrics of memflow: shared ones first, then those of benchmarks by name."""
    shared = [metric.name for metric in SHARED]
    own = {metric.name for spec in specs() for metric in declared_metrics(spec.name)}
    cells = []
    for metric in (catalog()[name] for name in (*shared, *sorted(own - {*shared}))):
        low, high = ("" if end is None else f"{end:g}" for end in (metric.low, metric.high))
        span = f"{low or '-∞'} to {high or '∞'}{f' {metric.unit}' if metric.unit else ''}"
        variants = "".join(f" `{variant}`: {what}." for variant, what in metric.variants.items())
        primary = ", ".join(sorted(metric.primary_for))
        cells.append(
            (
                f"`{metric.name}`",
                metric.description + variants,
                metric.direction,
                span,
                primary,
                metric.source,
            )
        )
    return _table(("metric", "meaning", "better", "range", "primary for", "source"), cells)


def parameters(benchmark: str) -> str:
    """Return the table of the parameters of a benchmark's domains, from the docstrings of the fields."""
    return _table(
        ("parameter", "type", "default", "meaning"), _parameters(protocol(benchmark).parameters, "")
    )


def _parameters(model: type[BaseModel], path: str) -> Iterator[tuple[str, str, str, str]]:
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0].body
    meanings = {
        field.target.id: text.value.value
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from _parameters(type(field.default), f"{path}{name}.")
            continue
        default = "" if field.default in (None, ()) else json.dumps(field.default, default=str)
        shown = f"`{default}`" if default else ""
        yield f"`{path}{name}`", _type(field.annotation), shown, meanings[name]


def protocol_points(benchmark: str) -> str:
    """Return the table of a benchmark's protocol points, with a legend; no column for code that is not public."""
    points = protocol(benchmark).points
    headings = {"topic": "topic", "paper": "paper", "published": "published code", "memflow": "memflow"}
    if not any(point.published for point in points):
        del headings["published"]
    table = _table([*headings.values()], ([getattr(point, name) for name in headings] for point in points))
    return f"{LEGEND}\n\n{table}"


PAGES: Mapping[str, Callable[[], str]] = {
    "cli": cli,
    "settings": settings,
    "tables": tables,
    "memories": memories,
    "domains": domains,
    "checks": checks,
}
INSERTED: Mapping[str, Callable[..., str]] = {
    "pipeline": pipeline,
    "resources": resource_folders,
    "metrics": metrics,
    "notebook": notebook,
    "workflow": workflow,
    "parameters": parameters,
    "protocol": protocol_points,
}


def _table_names(tables: Iterable[str]) -> str:
    """Return table names as Markdown code; all tables of one stage are abbreviated, for example to `state.*`."""
    names = list(tables)
    for stage in {table.partition(".")[0] for table in names}:
        of_stage = [table for table in WRITERS if table.startswith(f"{stage}.")]
        if len(of_stage) > 1 and set(of_stage) <= set(names):
            names = [
                f"{stage}.*" if table == of_stage[0] else table
                for table in names
                if table not in of_stage[1:]
            ]
    return _codes(names)


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
