"""`memflow show drift`: how scores changed after a model, prompt, parameter or code changed, and at which stage."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType

from memflow.cli.options import DomainFilter, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.operations.stored_names import check_names
from memflow.rendering.tables import Text, table
from memflow.rendering.texts import heading, note

DRIFT = "score.drift"
NOTHING = (
    "No drift: no model, prompt, parameter or code has changed between two publications. `memflow run` and the sensor "
    "regenerate what changed, and publish."
)
EXPLANATION = (
    "\n* beyond noise: the p value, adjusted (Holm) over all changed scores of the publication, is at most 0.05. "
    "change = users + answers + judging: other messages and probes, other answers to the same messages, other verdicts "
    "on the same answers."
)


def drift(
    ctx: typer.Context,
    domain: DomainFilter = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show earlier changes too, newest first.")
    ] = False,
    slices: Annotated[
        bool, typer.Option("--slices", help="Show every slice, not only those that moved.")
    ] = False,
    form: FormatOption = Format.table,
) -> None:
    """Show how scores changed after a model, prompt, parameter or code changed, and from which stage it comes.

    The scores are compared with those of the last publication before the change. The parts of users, answers and
    judging sum to the difference.
    """
    from memflow.scoring.drift_summary import COLUMNS, cells, grouped, last_drifts

    lake = front_of(ctx).lake()
    rows = lake.read_all(DRIFT, lake.partitions(DRIFT))
    if rows:
        check_names("the drift", "domain", domain, {row.domain for row in rows})
    chosen = [row for row in rows if not domain or row.domain in domain]
    drifts = grouped(chosen) if history else last_drifts(chosen)
    parts: list[RenderableType] = []
    for of_domain in drifts:
        moment = of_domain.published_at[:16].replace("T", " ")
        parts.append(heading(f"{of_domain.domain}, published {moment} UTC"))
        parts.append(Text(of_domain.sentence(), "yellow" if of_domain.moved else ""))
        if shown := list(of_domain.rows) if slices else of_domain.rows_to_show():
            parts.append(table(COLUMNS, map(cells, shown)))
    data = [
        {
            "domain": of_domain.domain,
            "published_at": of_domain.published_at,
            "changes": list(of_domain.changes),
            "moved": len(of_domain.moved),
            "sentence": of_domain.sentence(),
            "scores": [asdict(row) for row in of_domain.rows],
        }
        for of_domain in drifts
    ]
    scores = [asdict(row) for of_domain in drifts for row in of_domain.rows]
    print_result(form, {"drifts": data}, *parts, note(EXPLANATION if parts else NOTHING), rows=scores)
