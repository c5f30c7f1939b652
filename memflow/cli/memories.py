"""`memflow memories`: list the memory systems, including the user's, and the reasons why some cannot be used.

memory_check.py has `memflow memories check`.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding
from typer.core import TyperGroup

from memflow.cli.front import front_of
from memflow.cli.import_paths import own_of
from memflow.cli.memory_check import check
from memflow.cli.output import Format, FormatOption, Text, answer, cell, cut, note, table

if TYPE_CHECKING:
    from memflow.memories.memory import Calls
    from memflow.memories.registry import MemoryConfig
    from memflow.memories.systems import System
    from memflow.memories.user_memories import UserMemory

LONGEST_VALUE = 24
PER = {"arrival": "arrival", "message": "message", "round": "round of two messages"}

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Memories to show whole: rag, rag_2_4_30, my_module:MyMemory."),
]


class MemoriesGroup(TyperGroup):
    """The commands of `memflow memories`. Without the name of a command, the arguments are those of `list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `list` before arguments that name no command."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


memories = typer.Typer(
    cls=MemoriesGroup,
    help="List the memory systems: names, parameters, papers, and their model requests. `check` checks one of them.",
)
memories.command()(check)


@memories.command("list")
def list_memories(
    ctx: typer.Context,
    names: NamesArgument = None,
    form: FormatOption = Format.text,
) -> None:
    """List the memory systems: names, parameters, papers, and their model requests.

    A name is the system followed by its numbers: rag_2_4_30 is rag with FREQ 2, NS 4 and K 30.
    """
    from memflow.errors import BadSettings
    from memflow.memories.registry import find, resolve_user_memories, shipped_systems

    settings = front_of(ctx).load()
    if names:
        known, called = own_of(settings, names)
        rows = [_row(find(name, known), known.get(name)) for name in called]
    else:
        known = settings.own_memories()
        rows = [_row(find(system.name)) for system in shipped_systems()]
        for name, found in resolve_user_memories(known).items():
            if isinstance(found, BadSettings):
                rows.append(_unusable_row(name, known[name], found))
            else:
                rows.append(_row(found, known[name]))
    if names:
        answer(form, rows, *(part for row in rows for part in _details(row)))
        return
    answer(
        form,
        rows,
        _table(rows),
        note(
            "\n`memflow memories NAME` shows one whole. `memflow memories check NAME` checks one. "
            "One of your own: docs/how-to/memory.md, or in any language: docs/how-to/memory_server.md."
        ),
    )


def _row(recipe: "MemoryConfig", mine: "UserMemory | None" = None) -> dict[str, Any]:
    system = recipe.system
    memory, calls = system.memory, system.memory.calls
    return {
        "memory": recipe.name,
        "pattern": system.pattern,
        "summary": system.summary,
        "paper": system.paper,
        "origin": mine.origin if mine else "memflow",
        "class": f"{memory.__module__}:{memory.__qualname__}",
        "server": _server(mine),
        "description": (sys.modules[memory.__module__].__doc__ or "").strip(),
        "parameters": _parameters(system, recipe.values),
        "write": {"chat": calls.chat_write, "embed": calls.embed_write, "per": calls.per},
        "read": {"chat": calls.chat_read, "embed": calls.embed_read},
        "asks": _requests_text(calls),
        "needs_embedder": system.needs_embedder,
        "needs_chat": system.needs_chat,
        "lacks": system.missing_requirement or None,
        "prompts": [prompt.name for prompt in system.prompts],
        "unusable": None,
    }


def _unusable_row(name: str, mine: "UserMemory", wrong: Any) -> dict[str, Any]:
    """Return the row of an unusable memory, with the reason and the columns of `_row`."""
    return {
        "memory": name,
        "pattern": name,
        "summary": "",
        "paper": "",
        "origin": mine.origin,
        "server": _server(mine),
        "class": mine.path or mine.system,
        "parameters": [],
        "unusable": str(wrong),
    }


def _server(mine: "UserMemory | None") -> dict[str, Any] | None:
    """Return the declaration of a memory server and its last answer to `hello`, or None."""
    if mine is None or mine.server is None:
        return None
    hello = mine.server.hello
    return {
        "address": mine.server.url or shlex.join(mine.server.command),
        "settings": dict(mine.server.settings),
        "revision": mine.server.revision,
        "hello": None if hello is None else hello.model_dump(mode="json"),
    }


def _parameters(system: "System", values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "value": values[each.name],
            "default": each.default,
            "description": each.description,
            "low": each.low if isinstance(each.default, int | float) else None,
            "high": each.high,
            "choices": list(each.choices),
            "in_name": each.name in system.numbers,
        }
        for each in system.parameters
    ]


def _requests_text(calls: "Calls") -> str:
    """Return the maximum numbers of requests as text, such as `1 embed per arrival to write; 1 embed to read`."""
    write = _requests(calls.chat_write, calls.embed_write)
    read = _requests(calls.chat_read, calls.embed_read)
    parts = [f"{write} per {PER[calls.per]} to write"] if write else []
    parts += [f"{read} to read"] if read else []
    return "; ".join(parts) or "nothing"


def _at_most(row: Mapping[str, Any]) -> str:
    return row["asks"] if row["asks"] == "nothing" else f"at most {row['asks']}"


def _requests(chat: int, embed: int) -> str:
    return ", ".join(f"{count} {what}" for count, what in ((chat, "chat"), (embed, "embed")) if count)


def _table(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return the list of memory systems: pattern of names, source, and requests or the reason why it is unusable."""
    cells = [
        (
            Text(row["pattern"], "red" if row["unusable"] else ""),
            _origin(row),
            f"unusable: {row['unusable']}" if row["unusable"] else row["asks"],
            row.get("lacks"),
        )
        for row in rows
    ]
    return table("", ("memory", "source", "requests at most", "lacks"), cells, optional=("lacks",))


def _details(row: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield all details of one memory system as text."""
    yield Text.assemble("\n", (row["memory"], "bold"), "  ", (_origin(row), "dim"))
    if row["unusable"]:
        yield _line(f"unusable: {row['unusable']}", "red")
        return
    if row["pattern"] != row["memory"]:
        yield _line(f"names: {row['pattern']}", "dim")
    if row["origin"] == "memflow":
        yield _line(row["class"], "dim")
    yield Text()
    yield _line("\n\n".join(map(_joined_lines, row["description"].split("\n\n"))) or row["summary"])
    if row["parameters"]:
        columns = ("parameter", "value", "default", "may be", "what it is")
        shown = [
            (each["name"], _shown(each["value"]), _shown(each["default"]), _may_be(each), each["description"])
            for each in row["parameters"]
        ]
        yield Text()
        yield Padding(table("", columns, shown), (0, 0, 0, 2), expand=False)
    needed = {
        "a chat model": row["needs_chat"],
        "an embedder": row["needs_embedder"],
        row["lacks"]: row["lacks"],
    }
    needs = " and ".join(what for what, is_needed in needed.items() if is_needed) or "nothing"
    facts = [("asks", _at_most(row)), ("needs", needs), ("prompts", ", ".join(row["prompts"]))]
    yield Text()
    yield from (_line(f"{what}: {text}") for what, text in (*_server_facts(row["server"]), *facts) if text)


def _server_facts(server: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return what the detailed view shows of a memory server; empty for other memories."""
    if server is None:
        return []
    hello = server["hello"]
    known = f"{hello['name']} {hello['version']}" if hello else "not started yet"
    can = (hello or {}).get("can", {})
    return [
        ("server", f"{server['address']} ({known})"),
        ("capabilities", ", ".join(f"{name} {cell(value)}" for name, value in can.items())),
        ("settings", ", ".join(f"{name} {value}" for name, value in server["settings"].items())),
        ("revision", server["revision"]),
    ]


def _origin(row: Mapping[str, Any]) -> str:
    """Return the paper of a memory system, or else the package or file that declares the system."""
    if row["origin"] == "memflow":
        return str(row["paper"])
    return f"{row['origin']}: {'memory server' if row.get('server') else row['class']}"


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


def _joined_lines(paragraph: str) -> str:
    """Return a paragraph with its lines joined into one line; lists and indented paragraphs are unchanged."""
    lines = paragraph.splitlines()
    set_out = any(line.startswith((" ", "*", "-")) for line in lines)
    return paragraph if set_out else " ".join(lines)


def _line(text: str, style: str = "") -> RenderableType:
    return Padding(Text(text, style), (0, 0, 0, 2), expand=False)
