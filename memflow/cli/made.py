"""`memflow show made`: a domain's numbers of valid and quarantined rows, and the reasons for quarantine."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from memflow.cli.options import DomainFilter, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.stored_names import check_names
from memflow.rendering.tables import Columns, Text, table_of
from memflow.rendering.texts import cut, heading, note

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

LONGEST = 120
WHAT = {
    "state.profiles": "users",
    "utterance.turns": "messages",
    "question.keys": "gold labels",
    "question.probes": "probes",
    "feedback.sessions": "rounds of feedback",
}
COLUMNS: Columns = {
    "what": lambda row: WHAT[row["table_name"]],
    "valid": lambda row: row["n"] - row["quarantined"],
    "of": "n",
    "share": lambda row: f"{1 - row['quarantined'] / row['n']:.0%}",
}


def made(ctx: typer.Context, domain: DomainFilter = None, form: FormatOption = Format.table) -> None:
    """Show the numbers of valid users, messages, probes and rounds of feedback, and the reasons for quarantined rows.

    Messages and probes are counted for valid users only.
    """
    rows = share_made(front_of(ctx).load(), front_of(ctx).lake())
    if not rows:
        raise BadInput("the lake contains no generated domain. Generate two with `memflow run --demo`.")
    generated = list(dict.fromkeys(row["domain"] for row in rows))
    check_names("the lake", "generated domain", domain, generated)
    chosen = [row for row in rows if not domain or row["domain"] in domain]
    parts = [part for name in domain or generated for part in made_of(name, chosen)]
    print_result(form, chosen, *parts, note("\nMessages and probes are counted for valid users only."))


def share_made(settings: "Settings", lake: "Lake") -> list[dict[str, Any]]:
    """Return the number of rows and of quarantined rows by table and domain, with the most frequent reasons."""
    from memflow.resources.publishing.warehouse import Warehouse

    return list(Warehouse(lake, settings.warehouse_path).query("made"))


def made_of(domain: str, rows: Sequence[dict[str, Any]]) -> Iterator[RenderableType]:
    """Yield a domain's row counts as a printable table, followed by the reasons for quarantine."""
    of_domain = [row for row in rows if row["domain"] == domain]
    yield heading(f"{domain}: valid rows")
    yield table_of(of_domain, COLUMNS)
    for row in of_domain:
        for reason, times in zip(row["reasons"], row["times"], strict=True):
            yield Text(f"  {WHAT[row['table_name']]}, {times:,} x: {cut(reason, LONGEST)}", style="yellow")
        if row.get("left_out"):
            why = cut(f"{row['left_out']:,} questions are omitted, for example: {row['dropped']}", LONGEST)
            yield Text(f"  {why}", style="yellow")
