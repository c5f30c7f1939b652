"""Commands that are imported when they are used, so that a command does not import the others."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class CommandReference(NamedTuple):
    """Where the function or group of a command is, and how the command is listed."""

    path: str
    """The module and the name in it, such as `memflow.cli.run:run`."""
    panel: str | None = None
    kind: type[TyperCommand] = TyperCommand


class LazyGroup(TyperGroup):
    """A command group with `references` to further commands, which are listed before its own."""

    references: ClassVar[Mapping[str, CommandReference]] = {}

    def __init__(self, *, commands: Any = None, **options: Any) -> None:
        listed: Any = {**dict.fromkeys(self.references), **(commands or {})}
        super().__init__(commands=listed, **options)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self.commands.get(cmd_name) is None and cmd_name in self.references:
            self.commands[cmd_name] = load_command(cmd_name, self.references[cmd_name])
        return self.commands.get(cmd_name)


def load_command(name: str, reference: CommandReference) -> Any:
    """Import the function or group of a command. Return the command."""
    module, _, attribute = reference.path.partition(":")
    found = getattr(import_module(module), attribute)
    app = typer.Typer(rich_markup_mode="markdown")
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name, rich_help_panel=reference.panel)
    else:
        app.command(name, cls=reference.kind, rich_help_panel=reference.panel)(found)
    return typer.main.get_group(app).commands[name]
