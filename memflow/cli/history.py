"""`memflow show history`: all published results, newest first, and whether their rows are in the lake."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.options import AssistantFilter, DomainFilter
from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.stored_names import check_names
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.records import PublishedScore
    from resources.lake.lake import Lake

COLUMNS = (
    *("no.", "time (UTC)", "domain", "assistant", "score", "state", "95 % interval", "metric", "label"),
    *("model", "judge", "run"),
)
Result = list["PublishedScore"]
"""The primary scores over all probes that one publication added for one assistant in one domain."""


def history(
    ctx: typer.Context,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    limit: Annotated[int, typer.Option(min=0, help="Show so many results at most; 0 is all.")] = 30,
    form: FormatOption = Format.text,
) -> None:
    """List the published results of each domain and assistant, newest first, with a primary score.

    The state is current, kept (`--as-of` shows the result), removed (by `memflow doctor --clean`), or gone (no longer
    on the leaderboard). The number of a publication is a moment for `--as-of`.
    """
    lake = front_of(ctx).lake()
    rows: list[PublishedScore] = lake.read_all("score.history", lake.partitions("score.history"))
    if not rows:
        raise BadInput("no scores are published. Publish some with `memflow run --demo`.")
    check_names("the history", "domain", domain, {row.domain for row in rows})
    check_names("the history", "assistant", assistant, {row.assistant for row in rows})
    every = _results(rows)
    newest = {(result[0].domain, result[0].assistant): result[0].publication for result in every}
    found = [
        _row(lake, result, is_newest=newest[result[0].domain, result[0].assistant] == result[0].publication)
        for result in reversed(every)
        if (not domain or result[0].domain in domain) and (not assistant or result[0].assistant in assistant)
    ]
    shown = found[:limit] if limit else found
    cells = [_cells(row) for row in shown]
    optional = ("run", "judge", "model", "label", "metric", "95 % interval")
    answer(
        form,
        shown,
        table("", COLUMNS, cells, right=("no.", "score", "95 % interval"), optional=optional),
        note(
            f"\n{len(shown):,} of {len(found):,} results. `memflow show leaderboard --as-of NO.` shows one."
        ),
    )


def _cells(row: dict[str, Any]) -> list[Any]:
    """Return the cells of COLUMNS."""
    interval = f"none: {row['interval_reason']}" if row["interval_reason"] else ""
    if row["low"] is not None:
        interval = f"{row['low']:.3f} – {row['high']:.3f}"
    moment = row["published_at"][:16].replace("T", " ")
    start = [str(row["publication"]), moment, row["domain"], row["assistant"], row["value"], row["state"]]
    return [*start, interval, row["metric"], row["label"], row["model"], row["judge"], (row["run"] or "")[:8]]


def _results(rows: Iterable["PublishedScore"]) -> list[Result]:
    """Return the rows over all probes by publication, domain and assistant, in order."""
    found: dict[tuple[int, str, str], Result] = {}
    for row in rows:
        if row.slice == "all":
            found.setdefault((row.publication, row.domain, row.assistant), []).append(row)
    return list(found.values())


def _row(lake: "Lake", result: Result, *, is_newest: bool) -> dict[str, Any]:
    from memflow.benchmarks.domain_names import DomainName
    from memflow.labels import score_label
    from memflow.scoring.catalog import find_metric

    primary = next((row for row in result if find_metric(row.metric).primary_for), result[0])
    judges = dict.fromkeys(name for row in result if row.judge for name in row.judge.split(", "))
    limit = DomainName.parse(primary.domain).limit
    labels = [score_label(result), f"sample with limit {limit}" if limit else None]
    return {
        "publication": primary.publication,
        "published_at": primary.published_at,
        "run": primary.run,
        "domain": primary.domain,
        "assistant": primary.assistant,
        "model": primary.model,
        "judge": ", ".join(judges) or None,
        "simulator": primary.simulator,
        "metric": primary.metric,
        "value": primary.value,
        "low": primary.low,
        "high": primary.high,
        "interval_reason": primary.interval_reason,
        "label": ", ".join(filter(None, labels)) or None,
        "state": _state(lake, primary, is_newest),
    }


def _state(lake: "Lake", row: "PublishedScore", is_newest: bool) -> str:
    """Return whether the verdicts behind a published score are current, kept, removed or gone."""
    from memflow.pipeline import partition_key
    from resources.lake.past import PastLake

    if row.removed:
        return "gone"
    if is_newest:
        return "current"
    partition = partition_key(row.domain, row.assistant)
    for version in lake.versions("score.verdicts", partition):
        if version.facts.digest in row.inputs:
            past = PastLake(lake, version.since) if version.since else lake
            return "removed" if partition in past.removed_partitions("score.verdicts") else "kept"
    return "removed"
