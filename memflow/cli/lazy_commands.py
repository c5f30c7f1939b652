"""Commands that are imported when they are used, so that a command does not import the others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, ClassVar, NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from memflow.operations.moments import FORMS


class CommandReference(NamedTuple):
    """Where the function or group of a command is, and how the command is listed."""

    path: str
    """The module and the name in it, such as `memflow.cli.run:run`."""
    panel: str | None = None
    reads_past: bool = False
    """Whether the command has the option `--as-of`: its lake (`Front.lake`) then shows the given moment."""


class PlainOptions:
    """A command whose help shows no type of a flag or an argument, and N for a number."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
            elif parameter.metavar is None and parameter.is_flag:
                parameter.metavar = ""
            elif parameter.metavar is None and parameter.display_type(ctx).startswith(("<int", "<float")):
                parameter.metavar = "N"
        return parameters


class Command(PlainOptions, TyperCommand):
    """A command of `App`."""


class LazyGroup(PlainOptions, TyperGroup):
    """A command group with `references` to further commands, which are listed before its own.

    `declared` returns the names of commands that benchmarks declare, with the functions that build them; they are
    listed last.
    """

    references: ClassVar[Mapping[str, CommandReference]] = {}

    def __init__(self, *, commands: Any = None, **options: Any) -> None:
        listed: Any = {**dict.fromkeys(self.references), **(commands or {})}
        super().__init__(commands=listed, **options)

    def declared(self) -> Mapping[str, Callable[[], Any]]:
        return {}

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *self.declared()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self.commands.get(cmd_name) is None and cmd_name in self.references:
            self.commands[cmd_name] = load_command(cmd_name, self.references[cmd_name])
        return self.commands.get(cmd_name) or self.declared().get(cmd_name, lambda: None)()


class App(typer.Typer):
    """A Typer application whose commands have plain options."""

    def __init__(self, *, cls: Any = LazyGroup, **options: Any) -> None:
        super().__init__(cls=cls, rich_markup_mode="markdown", pretty_exceptions_enable=False, **options)

    def command(self, name: str | None = None, **options: Any) -> Any:
        """Return the decorator that adds a command."""
        return super().command(name, **{"cls": Command, **options})


def load_command(name: str, reference: CommandReference) -> Any:
    """Import the function or group of a command. Return the command."""
    module, _, attribute = reference.path.partition(":")
    target = getattr(import_module(module), attribute)
    app = App()
    if isinstance(target, typer.Typer):
        app.add_typer(target, name=name, rich_help_panel=reference.panel)
    else:
        app.command(name, rich_help_panel=reference.panel)(target)
    command = typer.main.get_group(app).commands[name]
    if reference.reads_past:
        command.params.append(as_of_option())
    return command


def build_command(name: str, help_text: str, function: Callable[..., None], panel: str | None = None) -> Any:
    """Return a command of a function, as benchmarks declare it."""
    app = App(add_completion=False)
    app.command(name, help=help_text, rich_help_panel=panel)(function)
    return typer.main.get_command(app)


def as_of_option() -> Any:
    """Return the option `--as-of`, which replaces the context's `Front` by one of that moment."""
    app = typer.Typer(add_completion=False)
    help_text = f"Show the lake as it was then: {FORMS}."
    option = typer.Option("--as-of", metavar="TIME", help=help_text, expose_value=False, callback=_choose)

    @app.command()
    def command(as_of: Annotated[str | None, option] = None) -> None: ...

    return typer.main.get_command(app).params[0]


def _choose(ctx: typer.Context, value: str | None) -> None:
    if value is not None:
        ctx.obj = replace(ctx.obj, as_of=value)
