"""Views and exports that benchmarks declare, as commands of `memflow show` and `memflow export`.

A command is built from its declaration (memflow/benchmarks/views.py) on first use, so `--help` of other commands
imports no benchmark.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.benchmarks import registry
from memflow.benchmarks.plugins import load_object
from memflow.benchmarks.views import Answer, Dim, Export, Heading, Note, Option, Part, Reader, Table, View
from memflow.cli.lazy_commands import as_of_option, build_command
from memflow.cli.options import FileArgument, OverwriteOption, argument, front_of
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.errors import BadInput
from memflow.labels import score_label
from memflow.operations.messages import terminal_console
from memflow.rendering.evidence import gaps, health, label_note
from memflow.rendering.tables import Text, table
from memflow.rendering.texts import heading, note
from memflow.scoring.completeness import incomplete_results

if TYPE_CHECKING:
    from memflow.benchmarks.spec import BenchmarkSpec


def reader_of(ctx: typer.Context) -> Reader:
    """Return a reader for the settings and the lake that the command uses."""
    from memflow.resources.lake_reader import LakeReader

    return LakeReader(front_of(ctx).load(), front_of(ctx).lake(), terminal_console().width)


def printed(parts: Iterable[Part]) -> list[RenderableType]:
    """Return the parts of a benchmark view's result as objects that rich can print."""
    return [_printed(part) for part in parts]


def _printed(part: Part) -> RenderableType:
    match part:
        case Heading():
            return heading(part.text)
        case Note():
            return Text(part.text, style="yellow") if part.warning else note(part.text)
        case Table():
            rows = [
                [Text(cell, style="dim") if isinstance(cell, Dim) else cell for cell in row]
                for row in part.rows
            ]
            return table(part.columns, rows, part.title)


def view_command(name: str, spec: "BenchmarkSpec | None", view: View) -> Any:
    """Return the command of a view, with the view's options."""

    def run(ctx: typer.Context, form: Format, **options: Any) -> None:
        result: Answer = loaded(view.show)(reader_of(ctx), **options)
        label = result.label or score_label(result.scores)
        data = {"label": label, "incomplete": incomplete_results(result.scores), **result.data}
        parts = [*printed(result.parts), *health(result.scores), *gaps(result.scores)]
        print_result(form, data, *parts, *label_note(label, result.caveat), rows=result.records or None)

    form = parameter("form", FormatOption, Format.table)
    function = with_signature(run, [*map(option_parameter, view.options), form])
    command = build_command(name, view.help, function, spec.title if spec else None)
    command.params.append(as_of_option())
    return command


def export_command(name: str, exports: Mapping[str, Export]) -> Any:
    """Return the command of an export."""
    titles = " or ".join(registry.spec_of(benchmark).title for benchmark in exports)

    def run(
        ctx: typer.Context,
        domain: Annotated[str, argument("DOMAIN", f"A domain of {titles}.")],
        file: FileArgument,
        force: OverwriteOption = False,
        form: FormatOption = Format.table,
    ) -> None:
        reader = reader_of(ctx)
        of = reader.domain(domain)
        if of.benchmark not in exports:
            raise BadInput(
                f"{domain} belongs to {of.benchmark}, but `export {name}` only supports domains of "
                f"{titles}. Choose such a domain."
            )
        made = loaded(exports[of.benchmark].export)(reader, of)
        write(file, made.text, force)
        data = {"file": str(file.absolute()), **made.data}
        print_result(form, data, note(f"{file} is written"), *printed(made.parts))

    return build_command(name, next(iter(exports.values())).help, run)


def loaded(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return a function that a benchmark declares, which may be given by its import path."""
    declared: Callable[..., Any] = load_object(function) if isinstance(function, str) else function
    return declared


def option_parameter(option: Option) -> inspect.Parameter:
    kind: Any = option.kind
    if option.positional:
        default = inspect.Parameter.empty if option.default is None else option.default
        declared = typer.Argument(metavar=option.metavar, help=option.help)
        return parameter(option.name, Annotated[kind, declared], default)
    if option.repeated:
        kind = list[kind] | None
    elif option.default is None:
        kind = kind | None
    metavar = None if option.kind is bool else option.metavar
    flag = f"--{option.name.replace('_', '-')}"
    declared = typer.Option(flag, metavar=metavar, help=option.help)
    return parameter(option.name, Annotated[kind, declared], option.default)


def parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_signature(run: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    every = [parameter("ctx", typer.Context), *parameters]
    run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in every}
    return run
