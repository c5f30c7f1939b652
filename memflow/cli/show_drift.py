"""`memflow show drift`: how scores changed after a model, prompt, parameter or code changed, and at which stage."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.options import DomainFilter
from memflow.cli.output import Sheet, SheetOption, Text, answer_rows, heading, line_width, note, table
from memflow.cli.stored_names import check_names

if TYPE_CHECKING:
    from memflow.scoring.drift_summary import DomainDrift

DRIFT, ALL = "score.drift", "all"
NUMBERS = ("before", "after", "change", "95 % interval", "users", "answers", "judging", "adjusted p")
NARROW = 7
"""How many columns fit into 80 characters."""
WIDTH_WITH_PARTS = 120
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
    form: SheetOption = Sheet.text,
) -> None:
    """Show how scores changed after a model, prompt, parameter or code changed, and from which stage it comes.

    The scores are compared with those of the last publication before the change. The parts of users, answers and
    judging sum to the difference.
    """
    from memflow.scoring.drift_summary import grouped, last_drifts
    from resources.lake.lake import Lake

    lake = Lake(front_of(ctx).load().lake_root)
    rows = lake.read(DRIFT, ALL) if lake.facts(DRIFT, ALL) is not None else []
    if domain and rows:
        check_names("the drift", "domain", domain, {row.domain for row in rows})
        rows = [row for row in rows if row.domain in domain]
    drifts = grouped(rows) if history else last_drifts(rows)
    found = [row for each in drifts for row in each.rows]
    parts = [part for each in drifts for part in _shown(each, slices)]
    data = {
        "drifts": [
            {
                "domain": each.domain,
                "published_at": each.published_at,
                "changes": list(each.changes),
                "moved": len(each.moved),
                "sentence": each.sentence(),
                "scores": [asdict(row) for row in each.rows],
            }
            for each in drifts
        ]
    }
    answer_rows(form, data, [asdict(row) for row in found], *parts, note(EXPLANATION if parts else NOTHING))


def _shown(each: "DomainDrift", slices: bool) -> list[RenderableType]:
    from memflow.scoring.drift_summary import COLUMNS, cells

    moment = each.published_at[:16].replace("T", " ")
    parts: list[RenderableType] = [
        heading(f"{each.domain}, published {moment} UTC"),
        Text(each.sentence(), "yellow" if each.moved else ""),
    ]
    rows = list(each.rows) if slices else each.shown()
    if rows:
        count = len(COLUMNS) if line_width() >= WIDTH_WITH_PARTS else NARROW
        parts.append(table("", COLUMNS[:count], [cells(row)[:count] for row in rows], right=NUMBERS))
    return parts
