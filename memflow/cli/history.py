"""`memflow show history`: all published results, newest first, and whether their rows are in the lake."""

from typing import TYPE_CHECKING, Any

import typer

from memflow.cli.options import AssistantFilter, DomainFilter, RowsOption, front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.stored_names import check_names
from memflow.rendering.tables import Columns, table_of
from memflow.rendering.texts import interval_text, note

if TYPE_CHECKING:
    from memflow.records import PublishedScore
    from memflow.resources.lake.lake import Lake

COPIED = (
    "publication",
    "published_at",
    "run",
    "domain",
    "assistant",
    "model",
    "simulator",
    "metric",
    "value",
)
"""The columns of a published score that a row has."""
COLUMNS: Columns = {
    "no.": lambda row: str(row["publication"]),
    "time (UTC)": lambda row: row["published_at"][:16].replace("T", " "),
    "domain": "domain",
    "assistant": "assistant",
    "score": "value",
    "state": "state",
    "95 % interval": lambda row: interval_text(row["low"], row["high"], reason=row["interval_reason"]),
    "metric": "metric",
    "label": "label",
    "model": "model",
    "judge": "judge",
    "run": lambda row: (row["run"] or "")[:8],
}


def history(
    ctx: typer.Context,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    limit: RowsOption = 30,
    form: FormatOption = Format.table,
) -> None:
    """List the published results of each domain and assistant, newest first, with a primary score.

    The state is current, kept (`--as-of` shows the result), removed (by `memflow doctor --clean`), or gone (no longer
    on the leaderboard). The number of a publication is a moment for `--as-of`.
    """
    lake = front_of(ctx).lake()
    scores: list[PublishedScore] = lake.read_all("score.history", lake.partitions("score.history"))
    if not scores:
        raise BadInput("no scores are published. Publish some with `memflow run --demo`.")
    check_names("the history", "domain", domain, {score.domain for score in scores})
    check_names("the history", "assistant", assistant, {score.assistant for score in scores})
    results: dict[tuple[int, str, str], list[PublishedScore]] = {}
    for score in scores:
        if score.slice == "all":
            results.setdefault((score.publication, score.domain, score.assistant), []).append(score)
    newest = {key[1:]: key[0] for key in results}
    chosen = [
        (result, newest[key[1:]] == key[0])
        for key, result in reversed(results.items())
        if (not domain or key[1] in domain) and (not assistant or key[2] in assistant)
    ]
    rows = [_row(lake, result, is_newest) for result, is_newest in chosen[: limit or None]]
    hint = f"\n{len(rows):,} of {len(chosen):,} results. `memflow show leaderboard --as-of NO.` shows one."
    print_result(form, rows, table_of(rows, COLUMNS), note(hint))


def _row(lake: "Lake", result: "list[PublishedScore]", is_newest: bool) -> dict[str, Any]:
    """Return what a publication added for an assistant in a domain: its primary score over all probes."""
    from memflow.benchmarks.domain_names import DomainName
    from memflow.labels import score_label
    from memflow.scoring.catalog import find_metric

    primary = next((score for score in result if find_metric(score.metric).primary_for), result[0])
    judges = dict.fromkeys(name for score in result if score.judge for name in score.judge.split(", "))
    limit = DomainName.parse(primary.domain).limit
    labels = [score_label(result), f"sample with limit {limit}" if limit else None]
    return {
        **{name: getattr(primary, name) for name in (*COPIED, "low", "high", "interval_reason")},
        "judge": ", ".join(judges) or None,
        "label": ", ".join(filter(None, labels)) or None,
        "state": _state(lake, primary, is_newest),
    }


def _state(lake: "Lake", score: "PublishedScore", is_newest: bool) -> str:
    """Return whether the verdicts behind a published score are current, kept, removed or gone."""
    from memflow.pipeline import partition_key
    from memflow.resources.lake.past import PastLake

    if score.removed or is_newest:
        return "gone" if score.removed else "current"
    partition = partition_key(score.domain, score.assistant)
    for version in lake.versions("score.verdicts", partition):
        if version.facts.digest in score.inputs:
            past = PastLake(lake, version.since) if version.since else lake
            return "removed" if partition in past.removed_partitions("score.verdicts") else "kept"
    return "removed"
