"""The example benchmark, installed with pip into a new environment: domain, scores, view and check."""

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOMAIN = "whereabouts_stories"
pytestmark = pytest.mark.pipeline

Memflow = Callable[..., str]


@pytest.fixture(scope="module")
def memflow(tmp_path_factory: pytest.TempPathFactory) -> Memflow:
    """Return a function that runs `memflow` in a new environment with the example benchmark, whose domain was run."""
    folder = tmp_path_factory.mktemp("example")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"

    def call(*arguments: str) -> str:
        command = [str(python), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    site = call("-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    installed = f"{ROOT}\n{sysconfig.get_paths()['purelib']}\n"  # memflow and what it depends on
    (Path(site) / "memflow_of_these_tests.pth").write_text(installed)
    call(
        "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools"
    )  # Python 3.11 bundles one that builds no wheels
    source = shutil.copytree(ROOT / "examples" / "benchmark", folder / "benchmark")
    call("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", str(source))
    shutil.rmtree(source)
    command = ("-m", "memflow.cli", "--home", str(folder / "home"))
    call(*command, "run", "--domain", DOMAIN, "--memory", "full")
    return lambda *arguments: call(*command, *arguments)


def test_domains_command_lists_the_domain_of_an_installed_benchmark(memflow: Memflow) -> None:
    [row] = [each for each in json.loads(memflow("domains", "--format", "json")) if each["domain"] == DOMAIN]
    assert row["benchmark"] == "whereabouts" and not row["in_settings"]


def test_leaderboard_contains_the_scores_of_an_installed_benchmark(memflow: Memflow) -> None:
    scores = json.loads(memflow("show", "leaderboard", "--metric", "accuracy", "--format", "json"))["scores"]
    accuracy = {score["assistant"]: score["value"] for score in scores}
    assert accuracy["full"] == accuracy["oracle"] == 1.0 > accuracy["none"]


def test_view_of_an_installed_benchmark_becomes_a_show_command(memflow: Memflow) -> None:
    assert "moves" in memflow("show", "--help")
    rows = json.loads(memflow("show", "moves", "--format", "json"))["rows"]
    assert {"assistant": "full", "category": "moved", "correct": 3, "questions": 3} in rows


def test_checks_command_evaluates_the_check_of_an_installed_benchmark(memflow: Memflow) -> None:
    shown = memflow("checks", "question.probes", "--domain", DOMAIN)
    assert any("passed" in line and "gold_in_evidence" in line for line in shown.splitlines())
