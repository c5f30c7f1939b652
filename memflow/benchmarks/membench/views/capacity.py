"""The command `memflow show capacity`: how many tokens each memory retains (MemBench, sections 3.4 and 4.4)."""

from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.membench.capacity import BEFORE, BEYOND, CAPACITY, IN_ALL
from memflow.benchmarks.views import Answer, Heading, Note, Part, Reader, Table, measured_names
from memflow.records import Score

NUMBERS = ("knee", "95 % interval", "before", "beyond", "probes", "trajectories")


def show_capacity(reader: Reader, domain: Sequence[str] | None) -> Answer:
    """Return the capacity of each assistant. Raises BadInput without capacity scores, or without any in `domain`."""
    scores = reader.scores()
    rows = _rows(scores)
    names = measured_names(
        dict.fromkeys(row["domain"] for row in rows),
        domain,
        "capacity results",
        "Run a domain with the protocol capacity: `memflow run --domain membench_memdaily_capacity`",
    )
    rows = [row for row in rows if row["domain"] in names]
    parts = [part for name in names for part in _tables(name, rows)]
    shown = [score for score in scores if score.metric == CAPACITY and score.domain in names]
    return Answer({"capacity": rows}, parts, scores=shown)


def _rows(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Yield a row for each domain, way of counting tokens and assistant, in the order of the leaderboard."""
    accuracy = {
        (score.domain, score.variant, score.assistant, score.slice): score.value
        for score in scores
        if score.metric == "accuracy" and score.slice in (BEFORE, BEYOND)
    }
    return [
        {
            "domain": one.domain,
            "tokens": "in all" if one.variant == IN_ALL else "since the evidence",
            "assistant": one.assistant,
            "knee": one.value,
            "low": one.low,
            "high": one.high,
            "before": accuracy.get((one.domain, one.variant, one.assistant, BEFORE)),
            "beyond": accuracy.get((one.domain, one.variant, one.assistant, BEYOND)),
            "probes": one.n,
            "trajectories": one.n_episodes,
            "embedder": one.embedder,
            "scripted": one.scripted,
            "reason": one.reason,
        }
        for one in sorted(scores, key=lambda one: (one.domain, one.variant == IN_ALL))
        if one.metric == CAPACITY
    ]


def _tables(domain: str, rows: Sequence[dict[str, Any]]) -> Iterator[Part]:
    cells: list[list[Any]] = []
    for row in rows:
        if row["domain"] != domain:
            continue
        tokens = row["tokens"] if not any(line[0] == row["tokens"] for line in cells) else ""
        interval = "" if row["low"] is None else f"{row['low']:,.0f} – {row['high']:,.0f}"
        knee = "none" if row["knee"] is None else f"{row['knee']:,.0f}"
        counts = [row["probes"], row["trajectories"]]
        cells.append(
            [tokens, row["assistant"], knee, interval, row["before"], row["beyond"], *counts, row["reason"]]
        )
    yield Heading(domain)
    yield Table(("tokens", "memory", *NUMBERS, ""), cells)
    yield Note(
        "Knee: the tokens up to which accuracy stays at its first level. Before and beyond: accuracy on either side. "
        "Where the two counts differ, the one with the greater fall shows what makes the memory forget."
    )
