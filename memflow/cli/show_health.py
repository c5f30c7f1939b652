"""`memflow show health`: what the memories did with what they were given, and whether their scores can be their own."""

from dataclasses import asdict
from typing import Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, heading, note, records_table
from memflow.cli.stored_names import assistants_of, check_names

TABLE = "score.health"
EXPLANATION = (
    "\nfaulty: the score is null, since it cannot be the memory's. suspect: the flag stands wherever the score "
    "stands. not measurable: nothing is known, which is not ok."
)
NEXT = "\n`memflow show health DOMAIN ASSISTANT` shows each measure with examples."


def health(
    ctx: typer.Context,
    domain: Annotated[
        str | None, typer.Argument(metavar="DOMAIN", help="Show the assistants of this domain.")
    ] = None,
    assistant: Annotated[
        str | None, typer.Argument(metavar="ASSISTANT", help="Show every measure of this assistant.")
    ] = None,
    form: FormatOption = Format.text,
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
        [(name, rows)] = measures.items()
        shown = [
            {
                "measure": row.measure,
                "state": row.state,
                "statement": full_statement(row),
                "examples": row.examples[:2],
            }
            for row in worst_first(rows)
        ]
        answer(form, data, heading(name), records_table(shown, optional=("examples",)), note(EXPLANATION))
        return
    overview = []
    for name, rows in measures.items():
        of_domain, _, memory = name.partition("/")
        state, statement = overall_state(rows)
        measured = f"{sum(row.reason is None for row in rows)} of {len(rows)}"
        cells = {"health": state, "statement": statement, "measured": measured}
        overview.append({"domain": of_domain, "assistant": memory, **cells})
    hint = note(NEXT if overview else "No memory's health is measured yet.")
    answer(form, data, records_table(overview, optional=("measured",)), hint)
