"""What was measured of writes and reads -> figures of efficiency, for every benchmark (MemBench, section 3.4).

`write_time` and `read_time` are mean seconds of an operation: of models, as recorded when they were first asked, and of
the memory's own computing; waiting counts as neither (timing.py). `write_calls` and `read_calls` are mean completions
of a chat model. A write is what arrived together; a read is a probe's, on a memory restored as of its checkpoint, which
makes its index anew when it is first read. What these rows are added up from is sql/queries/operations.sql.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.fingerprint import seeded
from memflow.metrics.intervals import Interval, mean_interval
from memflow.records import EFFICIENCY, Probe, Score
from memflow.scoring.comparability import COVERAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSums:
    """The writes and reads of one assistant in one episode, added up.

    `asked` are the probes for which it was to be read; `writes` and `reads` those operations that were measured.
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


_TOTALS: Mapping[str, Callable[[OperationSums], float]] = {
    "write_time": lambda row: row.write_models_s + row.write_own_s,
    "read_time": lambda row: row.read_models_s + row.read_own_s,
    "write_calls": lambda row: row.write_calls,
    "read_calls": lambda row: row.read_calls,
}
"""What a metric adds up."""


def efficiency_scores(
    rows: Sequence[OperationSums],
    probes: Sequence[Probe],
    like: Score,
    seed: int,
    parts: Mapping[str, frozenset[str]],
) -> list[Score]:
    """The figures of one assistant over all its episodes, and over those in which the probes of each part are asked.

    Their n are operations; intervals are bootstrapped over episodes. `like` is any figure of the same assistant and
    domain. A memory that nothing was written to, such as the bounds, has no figures but their reason.
    """
    slices = {"all": list(rows)}
    for name, wanted in parts.items():
        episodes = {probe.episode_id for probe in probes if probe.probe_id in wanted}
        slices[name] = [row for row in rows if row.episode_id in episodes]
    return [
        _figure(metric, name, part, like, seeded(seed, like.domain, metric, name))
        for name, part in slices.items()
        for metric in EFFICIENCY
    ]


def _figure(metric: str, name: str, rows: Sequence[OperationSums], like: Score, seed: int) -> Score:
    writing = metric.startswith("write")
    counted = [(row, count) for row in rows if (count := row.writes if writing else row.reads)]
    n = sum(count for _, count in counted)
    wanted = n if writing else sum(row.asked for row in rows)
    coverage = n / wanted if wanted else 0.0
    reason = None
    if not any(row.writes for row in rows):
        reason = f"nothing was written to {like.memory} here: there is nothing to measure"
    elif coverage < COVERAGE:
        reason = f"{n} of {wanted} reads were measured: see the reasons in answer.replies"
    interval = Interval(None, None, None)
    if reason is None:
        sums, counts = [_TOTALS[metric](row) for row, _ in counted], [count for _, count in counted]
        interval = mean_interval(sums, counts, seed=seed)
    return replace(
        like,
        metric=metric,
        variant="standard",
        slice=name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        deviation=None,
        n=n,
        n_episodes=len(counted),
        coverage=coverage,
        reason=reason,
    )
