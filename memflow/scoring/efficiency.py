"""Scores of a run rather than of a memory's quality: time and calls of operations (MemBench, section 3.4), cut replies.

Times are the recorded seconds of model requests plus the computing time of the memory's code, without waiting. A write
covers messages that arrive together. A read serves one probe, from the memory restored as of its checkpoint. Rows come
from sql/queries/operations.sql.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memflow.records import Probe, Score
from memflow.scoring.catalog import CUT_REPLIES, EFFICIENCY
from memflow.scoring.estimate import MetricContext, mean_score


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSums:
    """Times and calls of one assistant's memory in one episode, summed over its writes and over its reads.

    `asked` counts the probes that required a read; `writes` and `reads` count the measured operations. `texts` counts
    the answers and replies of the assistant, `cut_texts` the texts that the token limit cut. Seconds of `models_s` are
    of model requests, those of `own_s` of the memory's code; `calls` are model requests.
    """

    assistant: str
    episode_id: str
    writes: int = 0
    write_models_s: float = 0.0
    write_own_s: float = 0.0
    write_calls: int = 0
    asked: int = 0
    reads: int = 0
    read_models_s: float = 0.0
    read_own_s: float = 0.0
    read_calls: int = 0
    texts: int = 0
    cut_texts: int = 0


_TOTALS: Mapping[str, Callable[[OperationSums], float]] = {
    "write_time": lambda row: row.write_models_s + row.write_own_s,
    "read_time": lambda row: row.read_models_s + row.read_own_s,
    "write_calls": lambda row: row.write_calls,
    "read_calls": lambda row: row.read_calls,
}
"""The sum of a metric over one episode."""


def efficiency_scores(
    rows: Sequence[OperationSums],
    probes: Sequence[Probe],
    context: MetricContext,
    slices: Mapping[str, frozenset[str]],
) -> list[Score]:
    """Return the efficiency scores over all episodes and over the episodes of each slice's probes.

    The `n` of a score counts operations. A memory without writes, such as `none`, has a reason instead of values.
    """
    parts: dict[str, Sequence[OperationSums]] = {"all": rows}
    for name, members in slices.items():
        episodes = {probe.episode_id for probe in probes if probe.probe_id in members}
        parts[name] = [row for row in rows if row.episode_id in episodes]
    return [_score(metric.name, name, part, context) for name, part in parts.items() for metric in EFFICIENCY]


def cut_score(rows: Sequence[OperationSums], context: MetricContext) -> list[Score]:
    """Return the share of the assistant's texts that the token limit ended; no score without a text."""
    sums = [(float(row.cut_texts), row.texts) for row in rows if row.texts]
    total = sum(count for _, count in sums)
    return [mean_score(context, CUT_REPLIES.name, sums, total, items="replies")] if sums else []


def _score(metric: str, name: str, rows: Sequence[OperationSums], context: MetricContext) -> Score:
    """Return one metric of the writes or reads in a slice."""
    of_writes = metric.startswith("write")
    totals_and_counts = []
    for row in rows:
        count = row.writes if of_writes else row.reads
        if count:
            totals_and_counts.append((_TOTALS[metric](row), count))
    reason = None
    if not any(row.writes for row in rows):
        reason = f"{context.memory} has no writes, so its cost cannot be measured"
    return mean_score(
        context,
        metric,
        totals_and_counts,
        sum(count for _, count in totals_and_counts) if of_writes else sum(row.asked for row in rows),
        slice_name=name,
        reason=reason,
        items="reads",
    )
