"""Earlier results stay: runs of samples, other memories and another simulator, seen through the command line."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from drift_settings import SHIFT, write_settings
from shifted_chat import shifted_models
from typer.testing import CliRunner

from memflow.cli import app

DOMAIN, SAMPLE, USERS = "generated_users", "generated_users~2", 4
Call = Callable[..., Any]
Answers = dict[datetime, Any]


def leaderboard(call: Call, *options: str) -> Any:
    """Return the JSON of the leaderboard with all slices."""
    return call("show", "leaderboard", "--slices", "--limit", "0", *options)


def names(shown: Any) -> set[tuple[str, ...]]:
    """Return what identifies each score of a leaderboard."""
    columns = ("domain", "assistant", "metric", "variant", "slice")
    return {tuple(row[name] for name in columns) for row in shown["scores"]}


def accuracy(shown: Any, assistant: str) -> float:
    """Return the accuracy of an assistant over all probes of the whole domain."""
    wanted = (DOMAIN, assistant, "accuracy", "standard", "all")
    columns = ("domain", "assistant", "metric", "variant", "slice")
    (found,) = [row["value"] for row in shown["scores"] if tuple(row[name] for name in columns) == wanted]
    return found


def difference_in_accuracy(domain: Any) -> Any:
    """Return the comparison in accuracy over all probes."""
    (found,) = [row for row in domain["comparisons"] if (row["metric"], row["slice"]) == ("accuracy", "all")]
    return found


@pytest.fixture(scope="module", autouse=True)
def _shifted_models() -> Iterator[None]:
    with shifted_models():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("history")


@pytest.fixture(scope="module")
def call(folder: Path) -> Call:
    """Return a function that runs a command with the folder's settings and returns its JSON."""

    def run(*arguments: str) -> Any:
        command = ["--settings", str(folder / "memflow.toml"), *arguments, "--format", "json"]
        ended = CliRunner().invoke(app, command)
        assert ended.exit_code == 0, ended.output
        return json.loads(ended.stdout)

    return run


@pytest.fixture(scope="module")
def answers(folder: Path, call: Call) -> Answers:
    """Run the whole domain, a sample, another memory, another simulator and another answering model.

    Return the leaderboard after each run.
    """
    found = {}

    def run(memory: str, *options: str) -> None:
        call("run", "--domain", DOMAIN, "--no-baselines", "--memory", memory, *options)
        found[datetime.now(UTC)] = leaderboard(call)

    write_settings(folder, USERS)
    run("full")
    run("full", "--limit", "2")
    run("bm25_message")
    write_settings(folder, USERS, simulator=SHIFT)
    run("full", "--memory", "bm25_message")
    write_settings(folder, USERS, simulator=SHIFT, assistant=SHIFT)
    run("full")
    return found


@pytest.mark.pipeline
def test_runs_of_samples_memories_and_other_models_remove_no_score_from_the_leaderboard(
    answers: Answers,
) -> None:
    whole, sampled, other, *changed = map(names, answers.values())
    assert whole < sampled < other
    assert changed == [other, other]
    assert {name[:2] for name in sampled - whole} == {(SAMPLE, "full")}
    assert {name[:2] for name in other - sampled} == {(DOMAIN, "bm25_message")}


@pytest.mark.pipeline
def test_leaderboard_as_of_each_moment_equals_the_one_shown_then(answers: Answers, call: Call) -> None:
    assert len({json.dumps(shown) for shown in answers.values()}) == len(answers)
    for number, (moment, shown) in enumerate(answers.items(), 1):
        assert leaderboard(call, "--as-of", moment.isoformat()) == shown
        assert leaderboard(call, "--as-of", str(number)) == shown


@pytest.mark.pipeline
def test_compare_pairs_the_verdicts_of_one_assistant_at_two_moments(answers: Answers, call: Call) -> None:
    *_, before, after = answers
    for operands in (("full", f"full={before.isoformat()}"), ("full=5", "full=4")):
        (domain,) = call("compare", *operands, "--domain", DOMAIN)["domains"]
        row = difference_in_accuracy(domain)
        assert (row["n"], row["n_episodes"], domain["changed_probes"]) == (4 * USERS, USERS, 0)
        assert row["value_a"] == pytest.approx(accuracy(answers[after], "full"))
        assert row["value_b"] == pytest.approx(accuracy(answers[before], "full"))


@pytest.mark.pipeline
def test_compare_pairs_no_probes_that_another_simulator_wrote(answers: Answers, call: Call) -> None:
    (domain,) = call("compare", "full=4", "full=3", "--domain", DOMAIN)["domains"]
    assert (domain["comparisons"], domain["changed_probes"]) == ([], 4 * USERS)


@pytest.mark.pipeline
def test_runs_lists_every_publication_and_clean_keeps_the_current_and_the_previous_rows(
    answers: Answers, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = call("show", "history")
    assert [(row["publication"], row["domain"], row["assistant"], row["state"]) for row in before] == [
        (5, DOMAIN, "full", "current"),
        (5, DOMAIN, "bm25_message", "current"),
        (4, DOMAIN, "full", "kept"),
        (4, DOMAIN, "bm25_message", "kept"),
        (3, DOMAIN, "full", "kept"),
        (3, DOMAIN, "bm25_message", "kept"),
        (2, SAMPLE, "full", "current"),
        (1, DOMAIN, "full", "kept"),
    ]
    for row in before:
        if row["domain"] == DOMAIN:
            assert row["value"] == accuracy([*answers.values()][row["publication"] - 1], row["assistant"])
    monkeypatch.setenv("MEMFLOW_HISTORY__DAYS", "0")
    monkeypatch.setenv("MEMFLOW_HISTORY__GIGABYTES", "0")
    assert call("doctor", "--clean")["bytes"] > 0
    *_, previous, current = answers
    assert leaderboard(call) == answers[current]
    assert leaderboard(call, "--as-of", previous.isoformat()) == answers[previous]
    after = call("show", "history")
    assert [{**row, "state": ""} for row in after] == [{**row, "state": ""} for row in before]
    removed = {(row["publication"], row["assistant"]) for row in after if row["state"] == "removed"}
    assert removed == {(1, "full"), (3, "full")}
