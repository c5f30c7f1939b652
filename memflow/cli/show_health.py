"""`memflow show health`: what the memories did with what they were given, and whether their scores can be their own."""

from dataclasses import asdict

import typer

from memflow.cli.options import AnyAssistantArgument, AnyDomainArgument, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.stored_names import assistants_of, check_names
from memflow.rendering.tables import Columns, table, table_of
from memflow.rendering.texts import heading, note

TABLE = "score.health"
COLUMNS = ("domain", "assistant", "health", "statement", "measured")
EXPLANATION = (
    "\nfaulty: the score is null, since it cannot be the memory's. suspect: the flag stands wherever the score "
    "stands. not measurable: nothing is known, which is not ok."
)
NEXT = "\n`memflow show health DOMAIN ASSISTANT` shows each measure with examples."


def health(
    ctx: typer.Context,
    domain: AnyDomainArgument = None,
    assistant: AnyAssistantArgument = None,
    form: FormatOption = Format.table,
) -> None:
    """Show the health of memories: the state of each assistant, or the measures of one with their numbers.

    Measured is what a memory did with what it was given: failed and lost writes, cut texts, content of other episodes,
    failed and empty reads, caps, stale answers, and where failures concentrate.
    """
    from memflow.scoring.health import overall_state
    from memflow.scoring.health.markdown import full_statement, worst_first

    lake = front_of(ctx).lake()
    partitions = lake.partitions(TABLE)
    if domain is not None:
        check_names("the lake", "domain", [domain], {name.partition("/")[0] for name in partitions})
        known = assistants_of(lake, TABLE, domain)
        check_names(domain, "assistant with measured health", assistant and [assistant], known)
        partitions = [f"{domain}/{name}" for name in known if assistant in (None, name)]
    measures = {name: lake.read(TABLE, name) for name in partitions}
    data = [asdict(row) for rows in measures.values() for row in rows]
    if assistant is not None:
        columns: Columns = {
            "measure": "measure",
            "state": "state",
            "statement": full_statement,
            "examples": lambda row: row.examples[:2],
        }
        [(name, rows)] = measures.items()
        print_result(form, data, heading(name), table_of(worst_first(rows), columns), note(EXPLANATION))
        return
    overview = []
    for name, rows in measures.items():
        state, statement = overall_state(rows)
        measured = f"{sum(row.reason is None for row in rows)} of {len(rows)}"
        overview.append((*name.split("/", 1), state, statement, measured))
    hint = note(NEXT if overview else "No memory's health is measured yet.")
    print_result(form, data, table(COLUMNS, overview), hint)
