"""A domain run under two protocol profiles: separate partitions, both on the leaderboard."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memflow.cli import app
from memflow.resources.lake.lake import Lake
from memflow.resources.runs.added_partitions import with_added_partitions
from memflow.resources.settings.settings import load

DOMAIN = "amemgym_demo"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv("MEMFLOW_SETTINGS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memflow.toml").write_text(f'domains = ["{DOMAIN}", "{DOMAIN}.memflow"]', encoding="utf-8")
    return tmp_path / "home"


def memflow(home: Path, *arguments: str) -> Any:
    result = CliRunner().invoke(app, ["--home", str(home), *arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.pipeline
def test_run_under_a_profile_adds_a_domain_and_keeps_the_results_of_the_default(home: Path) -> None:
    run = ("run", "--memory", "awi", "--no-baselines", "--limit", "1", "--domain")
    paper, ours = f"{DOMAIN}~1", f"{DOMAIN}.memflow~1"
    memflow(home, *run, DOMAIN)
    lake = Lake(str(home / "lake"))
    before = lake.facts("memory.indexes", f"{paper}/awi")
    memflow(home, *run, f"{DOMAIN}.memflow")
    assert before is not None and lake.facts("memory.indexes", f"{paper}/awi") == before
    dates = {
        name: [entry for entry in lake.read("memory.indexes", f"{name}/awi") if entry.kind == "date"]
        for name in (paper, ours)
    }
    assert dates[ours] and not dates[paper]
    scores = memflow(home, "show", "leaderboard", "--metric", "accuracy")["scores"]
    assert {score["domain"] for score in scores} == {paper, ours}
    assert ours in with_added_partitions(load(over={"home": home})).domains
