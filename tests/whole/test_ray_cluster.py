"""A backfill on a Ray cluster of two nodes, one of which is killed: the tables of the embedded run, nothing repeated.

Needs the extra `ray` and PostgreSQL's programs. docs/how-to/deploy.md has the commands that start the nodes.
`python -m bench.cluster --kill` runs more partitions.
"""

import importlib.util
import shutil
from pathlib import Path

import pytest

from bench.cluster import compare

pytestmark = pytest.mark.cluster
REQUIRED = {
    "ray": "Ray",
    "dagster_ray": "dagster-ray",
    "aiohttp_cors": "Ray's server for jobs, the extra `default` of ray",
}
DOMAINS, ASSISTANTS = ("memorybench_demo",), ("rag_2_4_30", "none", "full", "recent")


@pytest.fixture
def _programs() -> None:
    """Skip the test where a program that it needs is missing."""
    for module, name in REQUIRED.items():
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{name} is not installed")
    if shutil.which("initdb") is None and not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        pytest.skip("PostgreSQL is missing: neither initdb on the path nor /usr/lib/postgresql")


@pytest.mark.usefixtures("_programs")
def test_backfill_with_a_killed_node_ends_with_the_tables_of_the_embedded_run(tmp_path: Path) -> None:
    found = compare(tmp_path, DOMAINS, ASSISTANTS, latency=2.0, kill_after=10)
    assert found.killed["processes"] > 0
    assert found.killed["second"] > 0, "no run was on the second node, so this shows nothing"
    assert set(found.runs) == {"SUCCESS"}, found
    assert found.differing == []
    assert found.rows > 100
    assert found.repeats_of_stored == 0
