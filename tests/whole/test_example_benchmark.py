"""The example benchmark, installed with pip into a new environment: domain, scores, view and check."""

import json

import pytest
from plugin_environment import Call, plugin_environment

DOMAIN = "whereabouts_stories"
pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def memflow(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Return a function that runs `memflow` in a new environment with the example benchmark, whose domain was run."""
    folder = tmp_path_factory.mktemp("example")
    call = plugin_environment(folder, "benchmark")
    command = ("-m", "memflow.cli", "--home", str(folder / "home"))
    call(*command, "run", "--domain", DOMAIN, "--memory", "full")
    return lambda *arguments: call(*command, *arguments)


def test_domains_command_lists_the_domain_of_an_installed_benchmark(memflow: Call) -> None:
    [row] = [each for each in json.loads(memflow("domains", "--format", "json")) if each["domain"] == DOMAIN]
    assert row["benchmark"] == "whereabouts" and not row["in_settings"]


def test_leaderboard_contains_the_scores_of_an_installed_benchmark(memflow: Call) -> None:
    scores = json.loads(memflow("show", "leaderboard", "--metric", "accuracy", "--format", "json"))["scores"]
    accuracy = {score["assistant"]: score["value"] for score in scores}
    assert accuracy["full"] == accuracy["oracle"] == 1.0 > accuracy["none"]


def test_view_of_an_installed_benchmark_becomes_a_show_command(memflow: Call) -> None:
    assert "moves" in memflow("show", "--help")
    rows = json.loads(memflow("show", "moves", "--format", "json"))["rows"]
    assert {"assistant": "full", "category": "moved", "correct": 3, "questions": 3} in rows


def test_checks_command_evaluates_the_check_of_an_installed_benchmark(memflow: Call) -> None:
    shown = memflow("checks", "question.probes", "--domain", DOMAIN)
    assert any("passed" in line and "gold_in_evidence" in line for line in shown.splitlines())
