"""`show made`: how much of a domain's users could be made, and why not the rest. A run ends with what it lost of it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, cut, heading, note, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from resources.settings import Settings

LONGEST = 120
WHAT = {
    "state.profiles": "users",
    "utterance.turns": "messages",
    "question.keys": "keys",
    "question.probes": "probes",
    "feedback.sessions": "rounds of feedback",
}


def made(
    ctx: typer.Context,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", metavar="NAME", help="Of this domain; may be repeated.")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Show how many users, messages, probes and rounds of feedback could be made, and why the others could not.

    A message or a probe counts only where its user could be made.
    """
    rows = share_made(front_of(ctx).load())
    if not rows:
        raise BadInput("no domain has been made yet: `memflow run --demo` makes two")
    there = list(dict.fromkeys(row["domain"] for row in rows))
    for name in domain or ():
        if name not in there:
            raise BadInput(f"{name!r} has not been made yet; there are {', '.join(there)}")
    chosen = [row for row in rows if not domain or row["domain"] in domain]
    shown = [part for name in domain or there for part in made_of(name, chosen)]
    answer(form, chosen, *shown, note("\nMessages and probes are those of users who could be made."))


def share_made(settings: "Settings") -> list[dict[str, Any]]:
    """Rows and quarantined rows of every table that a domain's users are in, with the most frequent reasons."""
    from resources.lake import Lake
    from resources.warehouse import Warehouse

    return list(Warehouse(Lake(settings.lake_root), settings.warehouse_path).query("made"))


def made_of(domain: str, rows: Sequence[dict[str, Any]]) -> Iterator[RenderableType]:
    """A domain's table, and its reasons below."""
    mine = [row for row in rows if row["domain"] == domain]
    columns = ("what", "made", "of", "share")
    yield heading(f"{domain}: what could be made")
    shown = [
        (
            WHAT[row["table_name"]],
            row["n"] - row["quarantined"],
            row["n"],
            f"{1 - row['quarantined'] / row['n']:.0%}",
        )
        for row in mine
    ]
    yield table("", columns, shown, right=columns[1:])
    for row in mine:
        for reason, times in zip(row["reasons"], row["times"], strict=True):
            yield Text(f"  {WHAT[row['table_name']]}, {times:,} x: {cut(reason, LONGEST)}", style="yellow")
        if row.get("left_out"):
            why = cut(f"{row['left_out']:,} questions are left out, as: {row['dropped']}", LONGEST)
            yield Text(f"  {why}", style="yellow")
