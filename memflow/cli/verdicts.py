"""`memflow show verdicts`: what each metric said of each reply."""

from typing import Annotated

import typer

from memflow.cli.options import RowsOption, front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.import_paths import assistant_name
from memflow.operations.stored_names import note_left_out
from memflow.rendering.evidence import metric_name
from memflow.rendering.tables import Columns, table_of
from memflow.rendering.texts import cut, note

LONGEST_ANSWER = 30
COLUMNS: Columns = {
    "domain": "domain",
    "assistant": "assistant",
    "probe": "probe_id",
    "gold": lambda row: cut(row["gold"] or "", LONGEST_ANSWER),
    "answer": lambda row: cut(row["parsed"] or "", LONGEST_ANSWER),
    "metric": lambda row: metric_name(row["metric"], row["variant"]),
    "value": "value",
    "reason": "reason",
}


def verdicts(
    ctx: typer.Context,
    domain: Annotated[str | None, option("--domain", "Of this domain.")] = None,
    assistant: Annotated[
        str | None, option("--assistant", "Of this assistant.", parser=assistant_name)
    ] = None,
    metric: Annotated[str | None, option("--metric", "Of this metric.")] = None,
    lost: Annotated[
        bool, typer.Option("--lost", help="Only those without a value: what was lost, and why.")
    ] = False,
    limit: RowsOption = 50,
    form: FormatOption = Format.table,
) -> None:
    """Show the verdict of each metric on each reply, with the gold and the parsed answer.

    A verdict without a value has a reason.
    """
    from memflow.resources.publishing.warehouse import Warehouse

    front = front_of(ctx)
    stored = Warehouse(front.lake(), front.load().warehouse_path).query(
        "verdicts", domain=domain, assistant=assistant, metric=metric, quarantined=True if lost else None
    )
    note_left_out(stored.left_out)
    rows = stored[:limit] if limit else list(stored)
    print_result(
        form,
        rows,
        table_of(rows, COLUMNS),
        note(f"\n{len(rows):,} of {len(stored):,} verdicts. `memflow show probe ID` shows one whole."),
    )
