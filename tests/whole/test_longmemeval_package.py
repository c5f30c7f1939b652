"""The package of LongMemEval, installed with pip into a new environment: its tests, the contract, and a run."""

import json
import re

import pytest
from plugin_environment import ROOT, Call, plugin_environment

DOMAIN = "longmemeval_sample"
PACKAGE = "memflow-longmemeval"
TESTS = ROOT / "examples" / PACKAGE / "tests"
pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Return a function that calls Python in a new environment with the package."""
    return plugin_environment(tmp_path_factory.mktemp("longmemeval"), PACKAGE)


@pytest.fixture(scope="module")
def memflow(tmp_path_factory: pytest.TempPathFactory, python: Call) -> Call:
    """Return a function that runs `memflow` in this environment, in which the sample was run."""
    command = ("-m", "memflow.cli", "--home", str(tmp_path_factory.mktemp("home")))
    memories = ("full", "longmemeval_bm25", "longmemeval_dense_facts", "longmemeval_notes")
    chosen = [part for name in memories for part in ("--memory", name)]
    python(*command, "run", "--domain", DOMAIN, *chosen)
    return lambda *arguments: python(*command, *arguments)


def test_tests_of_the_package_pass_in_its_environment(python: Call) -> None:
    config = TESTS.parent / "pyproject.toml"
    assert "failed" not in python("-m", "pytest", "-c", str(config), str(TESTS))


def test_benchmark_keeps_the_contract_of_benchmarks(python: Call) -> None:
    contract = ROOT / "tests" / "memflow" / "benchmarks" / "test_contract.py"
    config = ROOT / "pyproject.toml"
    shown = python("-m", "pytest", "-c", str(config), str(contract), "-vv", "-k", "[longmemeval]")
    passed = re.search(r"(\d+) passed", shown)
    assert passed is not None and int(passed[1]) >= 5, shown


def test_package_uses_no_private_name_of_memflow() -> None:
    sources = [*(TESTS.parent / "src").rglob("*.py")]
    imports = [
        line.strip()
        for path in sources
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("from memflow.", "import memflow", "from resources", "from assets"))
    ]
    assert len(imports) > 50
    assert [
        line for line in imports if " _" in line or "._" in line or not line.startswith("from memflow.")
    ] == []


def test_data_sets_are_listed_with_their_license(memflow: Call) -> None:
    rows = json.loads(memflow("data", "--format", "json"))["datasets"]
    licenses = {row["dataset"]: row["licence"] for row in rows if row["benchmark"] == "longmemeval"}
    assert licenses.pop("longmemeval_sample") == "Apache-2.0"
    assert licenses == dict.fromkeys(("longmemeval_oracle", "longmemeval_s", "longmemeval_m"), "MIT")


def test_leaderboard_has_accuracy_task_average_and_retrieval(memflow: Call) -> None:
    scores = {
        (score["assistant"], score["metric"]): score["value"]
        for metric in ("accuracy", "task_averaged_accuracy", "session_recall_any_at_5")
        for score in json.loads(memflow("show", "leaderboard", "--metric", metric, "--format", "json"))[
            "scores"
        ]
    }
    assert scores["longmemeval_bm25", "session_recall_any_at_5"] == 1.0
    assert scores["oracle", "accuracy"] > scores["none", "accuracy"]
    assert scores["oracle", "task_averaged_accuracy"] != scores["oracle", "accuracy"]
    assert ("full", "session_recall_any_at_5") not in scores


def test_view_shows_types_and_abstention_of_each_assistant(memflow: Call) -> None:
    rows = json.loads(memflow("show", "question-types", "--format", "json"))["rows"]
    counts = {row["average"]: row["n"] for row in rows if row["assistant"] == "none"}
    assert counts["overall"] == counts["task-averaged"] == 7
    assert (counts["answerable"], counts["abstention"], counts["single-session-user"]) == (6, 1, 2)


def test_view_shows_both_averages_of_retrieval(memflow: Call) -> None:
    rows = json.loads(memflow("show", "retrieval", "--k", "5", "--format", "json"))["rows"]
    counts = {row["variant"]: row["n"] for row in rows if row["assistant"] == "longmemeval_bm25"}
    assert counts == {"standard": 5, "all_answerable": 6}
    assert all(row["recall_any"] == 1.0 for row in rows if row["variant"] == "standard")


def test_checks_pass_and_no_reply_failed(memflow: Call) -> None:
    shown = memflow("checks", "--domain", DOMAIN)
    assert "0 failed, 0 with warnings" in shown
    assert "sessions_in_order_of_time" in memflow("checks", "utterance.turns", "--domain", DOMAIN)
