"""Incomplete runs: every view of their scores names the limit and the missing data sets."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memflow.cli import app
from memflow.operations.planned_runs import Outcome
from memflow.resources.instance.instance import open_instance

PARTIAL = {
    "benchmark": "memorybench",
    "datasets": ["memorybench_sample", "scitechnews"],
    "parameters": {"partition": "SiSo"},
}
SETTINGS = f"""
[own_domains.partial]
benchmark = "memorybench"
datasets = {json.dumps(PARTIAL["datasets"])}
parameters = {{ partition = "SiSo" }}
"""
LIMIT = "sample of 1 of 10 users"
MISSING = "1 of 2 data sets (without scitechnews)"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("incomplete") / "home"


@pytest.fixture
def incomplete(home: Path, run_in: Callable[..., Outcome]) -> Callable[..., Any]:
    """Run one domain with a limit and one without a data set, once; return a function that calls a command."""
    if not home.exists():
        run_in(home, ("amemgym_demo",), ("full",), limit=1, data=home.parent / "no-data")
        run_in(home, ("partial",), ("full",), data=home.parent / "no-data", own_domains={"partial": PARTIAL})
    Path("memflow.toml").write_text(SETTINGS)

    def call(*command: str) -> str:
        result = CliRunner().invoke(app, ["--home", str(home), *command])
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


@pytest.mark.parametrize(("domain", "gap"), [("amemgym_demo~1", LIMIT), ("partial", MISSING)])
def test_leaderboard_states_missing_data_of_a_domain_below_the_table_and_in_every_row(
    incomplete: Callable[..., str], domain: str, gap: str
) -> None:
    assert f"{domain}: {gap}" in " ".join(incomplete("show", "leaderboard").split())
    rows = json.loads(incomplete("show", "leaderboard", "--domain", domain, "--format", "json"))["scores"]
    assert {row["incomplete"] for row in rows} == {gap}
    assert all(row["planned"] >= row["n"] for row in rows)


def test_view_of_a_benchmark_states_the_missing_data_set(incomplete: Callable[..., str]) -> None:
    assert f"partial: {MISSING}" in incomplete("show", "times")
    data = json.loads(incomplete("show", "times", "--format", "json"))
    assert data["incomplete"] == [f"partial: {MISSING}"]


@pytest.mark.parametrize("table", ["question/probes", "score/verdicts", "score/leaderboard"])
def test_dagster_metadata_lists_missing_data_of_incomplete_results(
    incomplete: Callable[..., str], home: Path, table: str
) -> None:
    import dagster as dg

    with open_instance(home) as opened:
        events = opened.instance.fetch_materializations(dg.AssetKey(table.split("/")), limit=20).records
    found = [event.asset_materialization.metadata.get("incomplete") for event in events]
    assert any(MISSING in str(each.value) for each in found if each)
    assert any(LIMIT in str(each.value) for each in found if each)
