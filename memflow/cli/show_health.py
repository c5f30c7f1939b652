"""`memflow show health`: what the memories did with what they were given, and whether their scores can be their own."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, heading, note, table
from memflow.cli.stored_names import assistants_of, check_names

if TYPE_CHECKING:
    from memflow.records import HealthMeasure
    from resources.lake.lake import Lake

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
    from resources.lake.lake import Lake

    lake = Lake(front_of(ctx).load().lake_root)
    partitions = _chosen(lake, domain, assistant)
    rows = [(name, lake.read(TABLE, name)) for name in partitions]
    data = [asdict(row) for _, of_partition in rows for row in of_partition]
    if assistant is not None:
        [(name, measures)] = rows
        answer(form, data, heading(name), _measures(measures), note(EXPLANATION))
    else:
        answer(form, data, _overview(rows), note(NEXT if rows else "No memory's health is measured yet."))


def _chosen(lake: "Lake", domain: str | None, assistant: str | None) -> list[str]:
    """Return the stored partitions of a domain and an assistant; all where they are None. Raises BadInput."""
    partitions = lake.partitions(TABLE)
    if domain is not None:
        domains = {name.partition("/")[0] for name in partitions}
        check_names("the lake", "domain", [domain], domains)
        partitions = [name for name in partitions if name.partition("/")[0] == domain]
    if domain is not None and assistant is not None:
        check_names(domain, "assistant with measured health", [assistant], assistants_of(lake, TABLE, domain))
        partitions = [f"{domain}/{assistant}"]
    return partitions


def _overview(rows: list[tuple[str, list["HealthMeasure"]]]) -> Any:
    from memflow.scoring.health import overall

    cells = []
    for name, measures in rows:
        domain, _, assistant = name.partition("/")
        state, statement = overall(measures)
        measured = sum(row.reason is None for row in measures)
        cells.append((domain, assistant, state, statement, f"{measured} of {len(measures)}"))
    return table(
        "", ("domain", "assistant", "health", "statement", "measured"), cells, optional=("measured",)
    )


def _measures(rows: list["HealthMeasure"]) -> Any:
    from memflow.scoring.health.markdown import full_statement, worst_first

    cells = [(row.measure, row.state, full_statement(row), row.examples[:2]) for row in worst_first(rows)]
    return table("", ("measure", "state", "statement", "examples"), cells, optional=("examples",))
