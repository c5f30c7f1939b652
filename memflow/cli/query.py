"""`memflow sql`: run an SQL query over the tables of the lake."""

from typing import Annotated, Any

import typer

from memflow.cli.options import argument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.messages import message
from memflow.operations.moments import removed_partitions
from memflow.operations.stored_names import note_left_out
from memflow.rendering.tables import table
from memflow.rendering.texts import cut, note

LONGEST = 80
"""Characters of a cell in text; JSON and CSV have them whole."""


def sql(
    ctx: typer.Context,
    statement: Annotated[
        str, argument("SQL", "A SELECT in DuckDB's dialect; - reads it from standard input.")
    ],
    form: FormatOption = Format.table,
) -> None:
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
    lake = front_of(ctx).lake()
    rows = Warehouse(lake, front_of(ctx).load().warehouse_path).sql(statement)
    if removed := removed_partitions(lake):
        message(
            f"memflow: not in the result, because `memflow doctor --clean` removed it: {', '.join(removed)}"
        )
    note_left_out(rows.left_out)
    shown = table(rows.columns, ([_cell(value) for value in row.values()] for row in rows))
    print_result(form, list(rows), shown, note(f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}"))


def _cell(value: Any) -> Any:
    return cut(value, LONGEST) if isinstance(value, str) else value
