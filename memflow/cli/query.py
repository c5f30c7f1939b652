"""`memflow sql`: run an SQL query over the tables of the lake."""

from decimal import Decimal
from typing import Annotated, Any

import typer

from memflow.cli.damage import note_left_out
from memflow.cli.front import front_of
from memflow.cli.moments import removed_partitions
from memflow.cli.output import Format, FormatOption, answer, cut, message, note, table
from memflow.errors import BadInput

LONGEST = 80
"""Characters of a cell in text; JSON has them whole."""

StatementArgument = Annotated[
    str, typer.Argument(metavar="SQL", help="A SELECT in DuckDB's dialect; - reads it from standard input.")
]


def sql(ctx: typer.Context, statement: StatementArgument, form: FormatOption = Format.text) -> None:
    """Run an SQL query over the tables of the lake: memflow sql "SELECT * FROM score.leaderboard".

    Tables are stage.name; "SHOW ALL TABLES" lists them with their columns. Nothing can be changed.
    """
    from memflow.resources.publishing.warehouse import Warehouse

    if statement == "-":
        statement = typer.get_text_stream("stdin").read()
    if not statement.strip():
        raise BadInput(
            'the SQL statement is empty. Add one, for example memflow sql "SELECT * FROM score.leaderboard"'
        )
    settings = front_of(ctx).load()
    lake = front_of(ctx).lake()
    rows = Warehouse(lake, settings.warehouse_path).sql(statement)
    if removed := removed_partitions(lake):
        message(
            f"memflow: not in the result, because `memflow doctor --clean` removed it: {', '.join(removed)}"
        )
    note_left_out(rows.left_out)
    shown = [[_cell(value) for value in row.values()] for row in rows]
    numbers = {name for name in rows.columns if rows and all(_is_number(row[name]) for row in rows)}
    answer(
        form,
        list(rows),
        table("", rows.columns, shown, right=numbers),
        note(f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}"),
    )


def _cell(value: Any) -> Any:
    return cut(value, LONGEST) if isinstance(value, str) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
