"""`memflow memories`: list the memory systems, including the user's, and the reasons why some cannot be used.

memory_check.py has `memflow memories check`.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.markdown import Markdown

from memflow.cli.lazy_commands import App, LazyGroup
from memflow.cli.memory_check import check
from memflow.cli.options import argument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.import_paths import with_own_memories
from memflow.rendering.tables import Columns, Text, cell, table_of
from memflow.rendering.texts import cut, note

if TYPE_CHECKING:
    from memflow.memories.memory import Calls
    from memflow.memories.registry import MemoryConfig
    from memflow.memories.user_memories import UserMemory

LONGEST_VALUE = 24
PER = {"arrival": "arrival", "message": "message", "round": "round of two messages"}


class MemoriesGroup(LazyGroup):
    """The commands of `memflow memories`. Without the name of a command, the arguments are those of `list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `list` before arguments that name no command."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


memories = App(
    cls=MemoriesGroup,
    help="List the memory systems: names, parameters, papers, and their model requests. `check` checks one.",
)
memories.command()(check)


@memories.command("list")
def list_memories(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        argument("[MEMORY]...", "Memories to show whole: rag, rag_2_4_30, my_module:MyMemory, http://..."),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """List the memory systems: names, parameters, papers, and their model requests.

    A name is the system followed by its numbers: rag_2_4_30 is rag with FREQ 2, NS 4 and K 30.
    """
    from memflow.errors import BadSettings
    from memflow.memories.registry import find, resolve_user_memories, shipped_systems

    settings, resolved = with_own_memories(front_of(ctx), names or ())
    known = settings.own_memories()
    if names:
        rows = [_row(find(name, known), known.get(name)) for name in resolved]
        for row, name in zip(rows, names, strict=True):
            if name != row["memory"]:  # an import path or an address
                row["origin"] = "command line"
        print_result(form, rows, *(part for row in rows for part in _details(row)))
        return
    rows = [_row(find(system.name)) for system in shipped_systems()]
    for name, config in resolve_user_memories(known).items():
        if isinstance(config, BadSettings):
            mine = known[name]
            rows.append({**_own(mine), "memory": name, "pattern": name, "unusable": str(config)})
        else:
            rows.append(_row(config, known[name]))
    columns: Columns = {
        "memory": lambda row: Text(row["pattern"], "red" if row["unusable"] else ""),
        "source": _source,
        "requests at most": lambda row: f"unusable: {row['unusable']}" if row["unusable"] else row["asks"],
        "lacks": "lacks",
    }
    hint = (
        "\n`memflow memories NAME` shows one whole. `memflow memories check NAME` checks one. "
        "One of your own: docs/how-to/memory.md, or in any language: docs/how-to/memory_server.md."
    )
    print_result(form, rows, table_of(rows, columns), note(hint))


def _row(config: "MemoryConfig", mine: "UserMemory | None" = None) -> dict[str, Any]:
    from memflow.memories.deviations import deviations_of

    system = config.system
    memory, calls = system.memory, system.memory.calls
    return {
        "memory": config.name,
        "pattern": system.pattern,
        "summary": system.summary,
        "paper": system.paper,
        "origin": "memflow",
        "server": None,
        **(_own(mine) if mine else {}),
        "class": f"{memory.__module__}:{memory.__qualname__}",
        "description": (sys.modules[memory.__module__].__doc__ or "").strip(),
        "parameters": [
            {
                "name": parameter.name,
                "value": config.values[parameter.name],
                "default": parameter.default,
                "description": parameter.description,
                "low": parameter.low if isinstance(parameter.default, int | float) else None,
                "high": parameter.high,
                "choices": list(parameter.choices),
                "in_name": parameter.name in system.numbers,
            }
            for parameter in system.parameters
        ],
        "write": {"chat": calls.chat_write, "embed": calls.embed_write, "per": calls.per},
        "read": {"chat": calls.chat_read, "embed": calls.embed_read},
        "asks": _requests_text(calls),
        "needs_embedder": system.needs_embedder,
        "needs_chat": system.needs_chat,
        "forgets": ", ".join(sorted(config.forgets)) or f"nothing: {memory.cannot_forget}",
        "lacks": system.missing_requirement or None,
        "prompts": [prompt.name for prompt in system.prompts],
        "deviations": deviations_of(system),
        "unusable": None,
    }


def _own(mine: "UserMemory") -> dict[str, Any]:
    """Return the facts of a user's memory: where it is declared, and a server's declaration and last `hello`."""
    facts: dict[str, Any] = {"origin": mine.origin, "class": mine.path or mine.system, "server": None}
    if server := mine.server:
        facts["server"] = {
            "address": server.url or shlex.join(server.command),
            "settings": dict(server.settings),
            "revision": server.revision,
            "hello": None if server.hello is None else server.hello.model_dump(mode="json"),
        }
    return facts


def _requests_text(calls: "Calls") -> str:
    """Return the maximum numbers of requests as text, such as `1 embed per arrival to write; 1 embed to read`."""

    def requests(chat: int, embed: int) -> str:
        return ", ".join(f"{count} {what}" for count, what in ((chat, "chat"), (embed, "embed")) if count)

    write, read = requests(calls.chat_write, calls.embed_write), requests(calls.chat_read, calls.embed_read)
    parts = [f"{write} per {PER[calls.per]} to write" if write else "", f"{read} to read" if read else ""]
    return "; ".join(filter(None, parts)) or "nothing"


def _details(row: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield all details of one memory system as text."""
    yield Text.assemble("\n", (row["memory"], "bold"), "  ", (_source(row), "dim"))
    yield Text(f"names: {row['pattern']}\n{row['class']}\n", "dim")
    yield Markdown(row["description"])
    if row["parameters"]:
        columns: Columns = {
            "parameter": "name",
            "value": lambda item: _shown(item["value"]),
            "default": lambda item: _shown(item["default"]),
            "may be": _may_be,
            "what it is": "description",
        }
        yield Text()
        yield table_of(row["parameters"], columns)
    needs = ["a chat model"] * row["needs_chat"] + ["an embedder"] * row["needs_embedder"]
    needs += [row["lacks"]] if row["lacks"] else []
    facts = {
        **_server_facts(row["server"]),
        "asks": row["asks"] if row["asks"] == "nothing" else f"at most {row['asks']}",
        "needs": " and ".join(needs) or "nothing",
        "forgets by": row["forgets"],
        "prompts": ", ".join(row["prompts"]),
    }
    yield Text("\n" + "\n".join(f"{what}: {text}" for what, text in facts.items() if text))
    if row["deviations"]:
        points: Columns = {"differs in": "topic", "paper or published code": "published", "here": "memflow"}
        yield Text()
        yield table_of(row["deviations"], points)


def _server_facts(server: Mapping[str, Any] | None) -> dict[str, str]:
    """Return what the detailed view shows of a memory server; empty for other memories."""
    if server is None:
        return {}
    hello = server["hello"]
    known = f"{hello['name']} {hello['version']}" if hello else "not started yet"
    can = (hello or {}).get("can", {})
    return {
        "server": f"{server['address']} ({known})",
        "capabilities": ", ".join(f"{name} {cell(value)}" for name, value in can.items()),
        "settings": ", ".join(f"{name} {value}" for name, value in server["settings"].items()),
        "revision": server["revision"],
    }


def _source(row: Mapping[str, Any]) -> str:
    """Return the paper of a memory system, or else the package or file that declares the system."""
    if row["origin"] == "memflow":
        return str(row["paper"])
    return f"{row['origin']}: {'memory server' if row['server'] else row['class']}"


def _may_be(parameter: Mapping[str, Any]) -> str:
    if parameter["choices"]:
        return ", ".join(parameter["choices"])
    if isinstance(parameter["default"], bool):
        return "true, false"
    if isinstance(parameter["default"], int | float):
        low, high = parameter["low"], parameter["high"]
        return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"
    return "words" if isinstance(parameter["default"], Sequence) else ""


def _shown(value: Any) -> str:
    """Return a parameter's value as short text. A long tuple becomes its number of entries: `(12 entries)`."""
    if isinstance(value, tuple):
        words = ", ".join(value)
        return words if len(words) <= LONGEST_VALUE else f"({len(value)} entries)"
    return cut(str(value), LONGEST_VALUE)
