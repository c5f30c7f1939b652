"""Four processes write while one reads: no lost rows, no partial partitions, no lock errors."""

import json
import os
import subprocess
import sys
import textwrap

import duckdb
import pytest
from python_path import PYTHONPATH

from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse

WRITERS, LEAST_VERSIONS, LEAST_LOOKS = 4, 20, 10
"""The writers go on until each wrote LEAST_VERSIONS and the reader looked LEAST_LOOKS times, however slow either is."""

WRITER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from factories import verdict
    from memflow.resources.lake.lake import Lake
    from memflow.resources.publishing.warehouse import Warehouse

    root, duck, stop, me, least = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    lake = Lake(root)
    warehouse = Warehouse(lake, duck)
    time = 0
    while time < least or not stop.exists():
        time += 1
        # Every version has its length, and one value throughout: half of one and half of another would show.
        more = {"checkpoint": time, "value": 1 / time, "category": "x" * (time * 37 % 211)}
        rows = [verdict(assistant=f"a{me}", probe_id=f"p{n}", **more) for n in range(200 + 97 * (time * 7 % 13))]
        lake.write("score.verdicts", f"d/a{me}", rows, fingerprint=str(time))
        if time % 5 == 0:
            warehouse.publish()
    print(time)
    """
)

# What the reader may see of a partition: as many rows as its version has, all of that version.
SEEN = """
    SELECT
        assistant,
        count(*) AS n,
        min(checkpoint) AS first,
        max(checkpoint) AS last,
        max(value) - min(value) AS apart
    FROM score.verdicts
    GROUP BY assistant
"""


def rows_of(time):
    return 200 + 97 * (time * 7 % 13)


def published_rows(duck):
    """Read through the views of the published file, as other tools do.

    DuckDB opens a Parquet file once for its footer and again for its rows. Where a writer replaces the file in between,
    it reports an error, which the caller has to answer with another try. It must never return rows of two versions.
    """
    errors = []
    while len(errors) < LEAST_LOOKS:
        try:
            with duckdb.connect(duck, read_only=True) as connection:
                return connection.execute(SEEN).fetchall()
        except duckdb.Error as error:
            errors.append(error)
    pytest.fail(f"DuckDB reported an error {LEAST_LOOKS} times in a row: {errors}")


@pytest.mark.kill
def test_readers_see_complete_partitions_while_four_processes_write(tmp_path):
    root, duck, stop = tmp_path / "lake", tmp_path / "memflow.duckdb", tmp_path / "stop"
    warehouse = Warehouse(Lake(root), duck)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(root), str(duck), str(stop), str(me), str(LEAST_VERSIONS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **PYTHONPATH},
        )
        for me in range(WRITERS)
    ]
    looks = published = mixed = 0
    try:
        while any(writer.poll() is None for writer in writers):
            seen = warehouse.sql(SEEN)
            for row in seen:
                assert row["first"] == row["last"], row
                assert (row["n"], row["apart"]) == (rows_of(row["first"]), 0), row
            looks += bool(seen)
            if looks >= LEAST_LOOKS:
                stop.touch()
            mixed += len({row["first"] for row in seen}) > 1
            if duck.exists():
                for _, n, first, last, apart in published_rows(duck):
                    assert (first, n, apart) == (last, rows_of(first), 0)
                published += 1
    finally:
        stop.touch()
        ended = [writer.communicate(timeout=60) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * WRITERS, [error for _, error in ended]
    assert looks >= LEAST_LOOKS
    assert published > 0
    lake = Lake(root)
    assert lake.partitions("score.verdicts") == [f"d/a{me}" for me in range(WRITERS)]
    for me, (last, _) in enumerate(ended):
        assert lake.facts("score.verdicts", f"d/a{me}").fingerprint == last.strip()
        assert len(lake.read("score.verdicts", f"d/a{me}")) == rows_of(int(last))
    assert not [path.name for path in tmp_path.rglob("*.writing")]
    print(json.dumps({"looks": looks, "published": published, "with_partitions_of_several_versions": mixed}))
