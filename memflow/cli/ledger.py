"""`memflow ledger`: statistics of the ledger, and deletion of answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memflow.cli.lazy_commands import App
from memflow.cli.options import front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput, BadSettings
from memflow.operations.messages import message
from memflow.rendering.tables import table_of
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.resources.ledger.sql_ledger import SqlLedger

ledger = App(
    no_args_is_help=True, help="Show what the ledger of answered requests contains, and forget answers."
)
COLUMNS = (
    "model",
    "prompt",
    "end",
    "answers",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "bytes",
)


AnswerKind = Literal["answered", "cut", "loop", "retried"]
"""How the generation of a stored answer ended, or that its request followed an unusable answer."""


@ledger.command()
def stats(ctx: typer.Context, form: FormatOption = Format.table) -> None:
    """Show the stored answers by model, prompt and end: number, tokens, and bytes with the messages of their requests.

    `memflow show usage` has the requests, also failed ones, and their cost.
    """
    from memflow.resources.ledger.maintenance import disk_bytes, groups

    with _ledger(ctx) as opened, opened.connect() as connection:
        rows = groups(connection)
        size = disk_bytes(connection)
    print_result(
        form,
        {"groups": rows, "disk_bytes": size},
        table_of(rows, COLUMNS, "Stored answers"),
        note(f"{size / 1e6:,.1f} MB on disk."),
        rows=rows,
    )


@ledger.command()
def forget(
    ctx: typer.Context,
    model: Annotated[str, option("--model", "Answers of this model.")] = "",
    prompt: Annotated[str, option("--prompt", "Answers to this prompt, such as mem0/decide.")] = "",
    run: Annotated[str, option("--run", "Answers to requests that this run sent.", metavar="ID")] = "",
    kind: Annotated[
        AnswerKind | None,
        typer.Option(
            "--kind",
            help="Answers that ended so. cut: at the token limit; loop: there, in repetitions; retried: to requests "
            "after an unusable answer.",
        ),
    ] = None,
    digest: Annotated[str, option("--digest", "Answers whose digest begins with this.", metavar="HEX")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a question.")] = False,
    form: FormatOption = Format.table,
) -> None:
    """Delete the answers that meet all given conditions, after showing their number and cost.

    Results in the lake do not change. Rerun their partitions with `memflow run --force` to send the requests again.
    `memflow show usage` still counts what the deleted answers cost.
    """
    from memflow.resources.ledger.maintenance import CompletionFilter, forgettable
    from memflow.resources.ledger.maintenance import forget as delete

    retried = kind == "retried"
    chosen = CompletionFilter(model, prompt, run, kind if kind and not retried else "", digest, retried)
    if not chosen.conditions():
        raise BadInput(
            "no condition is given. Choose answers with --model, --prompt, --run, --kind or --digest."
        )
    prices = front_of(ctx).load().prices_of
    with _ledger(ctx) as opened:
        with opened.connect() as connection:
            found = forgettable(connection, chosen)
        if not found.count and not found.vectors:
            raise BadInput(
                "no answer in the ledger meets these conditions. List what it contains with `memflow ledger stats`."
            )
        each_model = ", ".join(f"{name} {count:,}" for name, count in found.completions.items())
        cost = found.cost(prices)
        price = "an unknown amount" if cost is None else f"{cost:,.2f}"
        vectors = f" and {found.vectors:,} embedding vectors" if found.vectors else ""
        message(
            f"memflow: {found.count:,} answers ({each_model}){vectors} would be deleted; to ask for them again costs "
            f"{price}. These partitions used them, and stay as they are until they are rerun: "
            f"{', '.join(found.partitions)}."
        )
        if not yes and not typer.confirm("Delete them?", err=True):
            raise typer.Exit(1)
        with opened.connect(transaction=True) as connection:
            deleted = delete(connection, chosen)
    print_result(
        form,
        {"deleted": deleted, "cost": cost, "partitions": found.partitions},
        note(f"Deleted {deleted:,} answers. Rerun the partitions with `memflow run --force`."),
    )


@contextmanager
def _ledger(ctx: typer.Context) -> Iterator["SqlLedger"]:
    """Open the ledger of the settings. Raises BadSettings if it does not exist."""
    from memflow.resources.files.sqlite_urls import sqlite_path
    from memflow.resources.ledger.sql_ledger import SqlLedger

    url = front_of(ctx).load().ledger_url
    path = sqlite_path(url)
    if path is not None and not path.is_file():
        raise BadSettings(
            f"there is no ledger at {path}. Run `memflow run --demo` to fill one, or fix `home` or `ledger` "
            "in memflow.toml."
        )
    with SqlLedger(url) as opened:
        yield opened
