"""`memflow budget`: show what was spent of shared budgets, reset them, and release the leases of ended processes."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.errors import BadInput
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from resources.shared_limits.leases import BudgetUse
    from resources.shared_limits.store import LimitStore

budget = typer.Typer(
    no_args_is_help=True,
    help="List, reset and release the budgets that several processes share (`name` in [budget] of memflow.toml).",
)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The budget's name.")]
AMOUNTS = ("calls", "tokens", "cost")
PARTS = ("spent", "leased", "lost")


@budget.command("list")
def list_budgets(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """List the shared budgets: spent, leased by running processes, and lost by processes that were killed.

    A lost lease counts as spent, because the last requests of a killed process may have been answered.
    """
    settings = front_of(ctx).load()
    with _store(ctx) as store:
        uses = _uses(store)
    limits = settings.budget.model_dump()
    rows: list[dict[str, Any]] = []
    for use in uses:
        given = {name: limits[name] if use.name == settings.budget.name else None for name in AMOUNTS}
        rows.append({**asdict(use), "limits": given})
    shown = [
        (
            row["name"],
            name,
            *(row[part][name] for part in PARTS),
            row["limits"][name],
            row["running"],
            row["ended"],
        )
        for row in rows
        for name in AMOUNTS
        if row["spent"][name] or row["leased"][name] or row["limits"][name]
    ]
    columns = ("budget", "amount", *PARTS, "limit", "running processes", "killed processes")
    answer(
        form,
        {"budgets": rows},
        table("Shared budgets", columns, shown, right=columns[2:])
        if rows
        else note("There are no shared budgets. Name one with `name` in [budget] of memflow.toml."),
    )


@budget.command()
def reset(ctx: typer.Context, name: NameArgument, form: FormatOption = Format.text) -> None:
    """Forget what was spent of a shared budget. What running processes spend from now on counts."""
    from resources.shared_limits.leases import reset_budget

    with _store(ctx) as store:
        _require(store, name)
        with store.transaction(name) as (connection, _):
            reset_budget(connection, name)
    answer(form, {"reset": name}, note(f"The budget {name} begins again with nothing spent."))


@budget.command()
def release(ctx: typer.Context, name: NameArgument, form: FormatOption = Format.text) -> None:
    """Give the leases of killed processes back to a shared budget.

    If their last requests were answered, the budget may then be exceeded by as much.
    """
    from resources.shared_limits.leases import release_leases

    with _store(ctx) as store:
        _require(store, name)
        with store.transaction(name) as (connection, now):
            count = release_leases(connection, now, name)
    answer(
        form,
        {"released": count},
        note(f"Leases of killed processes given back to the budget {name}: {count}."),
    )


def _require(store: "LimitStore", name: str) -> None:
    names = [use.name for use in _uses(store)]
    if name not in names:
        raise BadInput(unknown_name("budget", name, names, "memflow budget list"))


def _uses(store: "LimitStore") -> "list[BudgetUse]":
    from resources.shared_limits.leases import budget_uses

    with store.transaction("") as (connection, now):
        return budget_uses(connection, now)


@contextmanager
def _store(ctx: typer.Context) -> Iterator["LimitStore"]:
    from resources.shared_limits.store import LimitStore

    with closing(LimitStore(front_of(ctx).load().ledger_url)) as store:
        yield store
