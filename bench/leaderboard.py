"""Scores of MemoryBench from a million verdicts: DuckDB groups the files of the lake, then scores and intervals follow.

25 assistants answer 8,000 probes each of the open domain, under five metrics. Two peers load every verdict: Python
groups rows as objects, and pandas reads and groups the same files. Wall seconds, the best of three. Scores from groups
of DuckDB and of Python must agree to 1e-9.

    python -m bench.leaderboard

The command prints one JSON line, and its exit code is 1 if it takes more than 2 s or a score differs.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from bench.measure import ROUNDS, report
from bench.verdict_groups import groups_of
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.scoring import make_scores, population
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.records import Score, Verdict
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse
from memflow.scoring.groups import Group

ASSISTANTS, PROBES, BOUND_S = 25, 8_000, 2.0
MEASURES = ("", "one", "two", "three", "four")
OPEN = Domain("open", "memorybench", (), "", {"partition": "open"})


def main() -> int:
    """Print the wall time of scoring a million verdicts. Return 1 if it exceeds 2 s or a score differs, else 0."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder) / "lake")
        for number in range(ASSISTANTS):
            lake.write("score.verdicts", f"open/a{number}", verdicts(number), fingerprint="")
        warehouse = Warehouse(lake, Path(folder) / "memflow.duckdb")

        def ours() -> list[Score]:
            return build_scores([Group(**row) for row in warehouse.query("verdict_groups", domain="open")])

        def objects() -> list[Score]:
            return build_scores(groups_of(lake.read_all("score.verdicts", lake.partitions("score.verdicts"))))

        def frames() -> pd.DataFrame:
            columns = [
                "assistant",
                "dataset",
                "category",
                "metric",
                "variant",
                "checkpoint",
                "episode_id",
                "value",
            ]
            paths = [lake.path("score.verdicts", name) for name in lake.partitions("score.verdicts")]
            held = pd.concat([pd.read_parquet(path, columns=columns) for path in paths])
            return held.groupby(columns[:-1], dropna=False)["value"].agg(
                ["size", "count", "sum", "min", "max"]
            )

        grouped_s, found = best_of(ours)
        objects_s, same = best_of(objects, 1)
        pandas_s, _ = best_of(frames)
        rows = sum(
            figure.n for figure in found if figure.slice == "all" and figure.metric not in SCALED_METRICS
        )
    equal = len(found) == len(same) and all(map(scores_match, found, same))
    report(
        {"name": "leaderboard", "value": round(grouped_s, 2), "unit": "s", "bound": BOUND_S},
        verdicts=ASSISTANTS * PROBES * len(MEASURES),
        scored=rows,
        scores=len(found),
        rows_as_objects_s=round(objects_s, 2),
        pandas_grouping_alone_s=round(pandas_s, 2),
        equal=equal,
    )
    return int(grouped_s > BOUND_S or not equal)


SCALED_METRICS = ("min_max", "z_score")


def build_scores(groups: list[Group]) -> list[Score]:
    """Return the scores of all assistants in the domain."""
    by_assistant: dict[str, list[Group]] = {}
    for group in groups:
        by_assistant.setdefault(group.assistant, []).append(group)
    compared = population(groups)
    return [
        figure
        for name, held in by_assistant.items()
        for figure in make_scores(
            OPEN,
            AssistantResults(
                "open", name, name, "m", [], [], [], [], "s", True, groups=held, population=compared
            ),
        )
    ]


def verdicts(number: int) -> list[Verdict]:
    """Return the random verdicts of one assistant; one in a hundred has no value.

    LoCoMo's probes are in ten episodes; each other data set has one episode.
    """
    chance = random.Random(number)
    tasks = [
        task
        for task in TASKS.values()
        if task.field == "open" and not task.name.startswith(("sample", "mem"))
    ]
    rows = []
    for at in range(PROBES):
        task = tasks[at % len(tasks)]
        for measure in MEASURES:
            value = None if chance.random() < 0.01 else chance.random()
            rows.append(
                Verdict(
                    domain="open",
                    assistant=f"a{number}",
                    probe_id=f"{task.name}/{at}",
                    episode_id=f"locomo-{at % 10}" if task.name == "locomo" else DIALOGUES,
                    checkpoint=0,
                    dataset=task.name,
                    category=str(at % 5 + 1) if task.name == "locomo" else None,
                    metric=measure or task.metric,
                    value=value,
                    reason=None if value is not None else "no answer",
                )
            )
    return rows


def best_of(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """Repeat a function. Return the seconds of the fastest round, and the result of the last round."""
    least, found = float("inf"), None
    for _ in range(rounds):
        began = time.perf_counter()
        found = work()
        least = min(least, time.perf_counter() - began)
    return least, found


def scores_match(one: Score, other: Score) -> bool:
    """Return whether two lists of scores are equal up to rounding errors."""
    named = (one.assistant, one.metric, one.variant, one.slice, one.n) == (
        other.assistant, other.metric, other.variant, other.slice, other.n,
    )  # fmt: skip
    return named and all(
        left == right or (left is not None and right is not None and abs(left - right) < 1e-9)
        for left, right in ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    )


if __name__ == "__main__":
    sys.exit(main())
