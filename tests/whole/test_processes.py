"""Four processes write while another reads: no lost rows, no partial partitions, no lock errors."""

import json
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from memflow.cli.planned_runs import Outcome
from memflow.pipeline import tables_of
from resources.instance.instance import dagster_home, open_instance
from resources.lake.lake import Lake
from resources.publishing.warehouse import Warehouse

TABLES = tables_of("domain x assistant")
TIMES = 5
"""How often each process measures its partition: twenty times in all."""
WORKERS = [
    ("amemgym_demo~1", "full"),
    ("amemgym_demo~1", "bm25_message"),
    ("memorybench_demo~1", "full"),
    ("memorybench_demo~1", "embed_session"),
]
DOMAINS = tuple(dict.fromkeys(domain for domain, _ in WORKERS))
ASSISTANTS = tuple(dict.fromkeys(assistant for _, assistant in WORKERS))

WORKER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from assets.definitions import build_defs
    from assets.partitions import pair
    from memflow.cli.executor import QUIET
    from resources.instance.instance import open_instance
    from resources.settings.settings import load

    home, domain, assistant, times, publishes = sys.argv[1:]
    settings = load(over={"home": Path(home), "domains": [domain]})
    definitions = build_defs(settings)

    def run(job, opened, partition=None):
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=opened.instance, partition_key=partition, tags=opened.tags, run_config={"loggers": QUIET}
        )
        assert result.success

    with open_instance(settings.home) as opened:
        for time in range(int(times)):
            run("evaluate_memory", opened, pair(domain, assistant))
            if publishes == "yes" and time % 5 == 4:
                run("publish_leaderboard", opened)
    """
)

# How many rows of each partition there are, in every table that the processes write.
COUNTED = " UNION ALL ".join(
    f"SELECT '{table}' AS name, domain || '/' || assistant AS place, count(*) AS n FROM {table} GROUP BY 1, 2"
    for table in TABLES
)

Seen = dict[tuple[str, str], set[int]]


@pytest.mark.kill
def test_concurrent_runs_lose_no_rows_and_publish_no_partial_partitions(
    tmp_path: Path,
    run_in: Callable[..., Outcome],
    contents: Callable[[Path], dict[str, str]],
    own_environment: dict[str, str],
) -> None:
    alone, home = tmp_path / "alone", tmp_path / "home"
    assert run_in(alone, DOMAINS, ASSISTANTS).failed == []
    shutil.copytree(alone / "lake", home / "lake")
    for table in (*TABLES, "score.leaderboard"):
        shutil.rmtree(home / "lake" / table.replace(".", "/"))
    # As many places in a pool as there are processes: they are to be at work at once, not in a queue.
    instance = dagster_home(home) / "dagster.yaml"
    instance.write_text(instance.read_text().replace("default_limit: 2", "default_limit: 4"))

    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(home), *worker, str(TIMES), "no" if place else "yes"],
            env=own_environment,
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        for place, worker in enumerate(WORKERS)
    ]
    seen: Seen = {}
    looks = published = 0
    try:
        warehouse = Warehouse(Lake(home / "lake"), home / "memflow.duckdb")
        while any(process.poll() is None for process in processes):
            note(seen, [tuple(row.values()) for row in warehouse.sql(COUNTED)])
            warehouse.query("coverage")
            looks += 1
            time.sleep(0.1)
            if warehouse.path.exists():
                with duckdb.connect(warehouse.path, read_only=True) as connection:
                    note(seen, connection.execute(COUNTED).fetchall())
                published += 1
    finally:
        errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), errors

    # Nothing lost: what four made at once is what one made alone.
    mine = {f"{table} {domain}/{assistant}" for table in TABLES for domain, assistant in WORKERS}
    made, wanted = contents(home), contents(alone)
    assert {key: made.get(key) for key in mine} == {key: wanted[key] for key in mine}
    with open_instance(home) as opened:
        runs = opened.instance.get_runs(dg.RunsFilter(job_name="evaluate_memory"))
    assert [run.status for run in runs] == [dg.DagsterRunStatus.SUCCESS] * TIMES * len(WORKERS)
    # Nothing half seen: whoever looked saw a partition whole or not at all.
    lake = Lake(home / "lake")
    full = {
        (table, f"{domain}/{assistant}"): {rows}
        for table in TABLES
        for domain, assistant in WORKERS
        if (rows := lake.facts(table, f"{domain}/{assistant}").rows)  # a table without rows is not counted
    }
    assert seen == full
    assert not list(home.rglob("*.writing"))
    assert looks > TIMES, "the reader saw too little for this to mean anything"
    assert published > 0
    print(json.dumps({"runs": len(runs), "looks": looks, "of them at memflow.duckdb": published}))


def note(seen: Seen, counts: list[tuple[str, str, int]]) -> None:
    for table, place, rows in counts:
        seen.setdefault((table, place), set()).add(rows)
