"""Repeats with a model server: they send requests of their own, play nothing again, and continue after a stop."""

from collections import Counter
from pathlib import Path

import pytest
from click.testing import Result
from stub import count_answers, stub_process

DOMAIN = "amemgym_demo~1"
SETTINGS = """
domains = ["amemgym_demo~1"]
assistants = ["none", "full"]
[models.stub]
url = "{url}"
model = "stub"
[roles]
assistant = "stub"
"""


@pytest.fixture
def stub(tmp_path: Path):
    """Yield the log of a stub server that answers equal requests differently; the settings name it."""
    log = tmp_path / "answers.jsonl"
    with stub_process(vary=1, log=log) as url:
        (tmp_path / "memflow.toml").write_text(SETTINGS.format(url=url), encoding="utf-8")
        yield log


def done(result: Result) -> Result:
    assert result.exit_code == 0, result.output
    return result


def answers(log: Path) -> Counter[str]:
    return count_answers(log) if log.exists() else Counter()


def test_repeats_send_the_planned_requests_and_only_those_of_answers(empty, stub: Path) -> None:
    planned = [empty.json("plan", *options)["total"]["calls"] for options in ([], ["--repeats", "2"])]
    done(empty("run"))
    once = answers(stub).total()
    usage = empty.json("run", "--repeats", "2")["usage"]
    twice = answers(stub).total()
    assert [row["stage"] for row in usage if row["requests"]] == ["answer"]
    assert twice - once == planned[1] - planned[0] > 0
    assert empty.lake.facts("memory.transcripts", f"{DOMAIN}/full~answers2").rows == 0
    third = empty.json("run", "--repeats", "3")["runs"]
    assert (third["done"], third["failed"]) == (3, [])  # two assistants and the leaderboard
    assert answers(stub).total() - twice == twice - once
    assert set(answers(stub).values()) == {1}


def test_repeated_run_plays_again_with_the_planned_requests(empty, stub: Path) -> None:
    done(empty("run"))
    settings = Path("memflow.toml").read_text(encoding="utf-8")
    Path("memflow.toml").write_text(f'repeats = 2\nrepeats_of = "run"\n{settings}', encoding="utf-8")
    planned = empty.json("plan")["stages"]
    usage = empty.json("run")["usage"]
    requests = {(row["stage"], row["role"]): row["requests"] for row in usage if row["requests"]}
    assert {stage for stage, _ in requests} >= {"memory", "answer"}
    # What the simulator says depends on the model's replies, so its requests are about as many.
    for role in (("memory", "assistant"), ("answer", "assistant")):
        assert requests[role] == sum(row["calls"] for row in planned if (row["stage"], row["role"]) == role)
    assert empty.lake.facts("memory.transcripts", f"{DOMAIN}/full~run2").rows > 0


def test_interrupted_repeats_continue_without_answered_requests(empty, stub: Path) -> None:
    done(empty("run"))
    once = answers(stub)
    settings = Path("memflow.toml").read_text(encoding="utf-8")
    Path("memflow.toml").write_text(f"{settings}\n[budget]\ncalls = 9\n", encoding="utf-8")
    stopped = empty("run", "--repeats", "2")
    Path("memflow.toml").write_text(settings, encoding="utf-8")
    assert stopped.exit_code == 1
    assert 0 < answers(stub).total() - once.total() <= 9
    done(empty("run", "--repeats", "2"))
    assert answers(stub).total() == 2 * once.total() - played(empty)
    assert set(answers(stub).values()) == {1}


def played(home) -> int:
    """Return the number of requests of the stub's model while episodes were played."""
    rows = home.json("show", "usage", "--by", "stage", "--by", "model")["usage"]
    return sum(row["calls"] for row in rows if row["stage"] == "memory" and row["model"] == "stub")


def test_noise_stands_beside_scores_and_differences(empty, stub: Path) -> None:
    done(empty("run", "--repeats", "4"))
    scores = empty.json("show", "leaderboard", "--metric", "accuracy")["scores"]
    assert {score["assistant"] for score in scores} == {"none", "full"}
    for score in scores:
        assert (score["repeats"], score["repeats_of"], score["noise_degrees"]) == (4, "answers", 6)
        assert 0 < score["noise_low"] < score["noise"] < score["noise_high"]
    shown = empty("show", "leaderboard", "--metric", "accuracy").output
    assert "±{noise:.3f} [{noise_low:.3f} {noise_high:.3f}] (4)".format(**scores[0]) in shown
    [of_domain] = empty.json("compare", "full", "none", "--metric", "accuracy")["domains"]
    [row] = [row for row in of_domain["comparisons"] if row["slice"] == "all"]
    assert row["noise"] == pytest.approx(2**0.5 * scores[0]["noise"])
    assert row["within_noise"] is (abs(row["difference"]) <= 2.447 * row["noise"])
    noisy = empty.json("show", "noise", DOMAIN)["scores"]
    assert [score for score in noisy if score["metric"] == "accuracy"] == scores
    assert f"{scores[0]['noise']:.4f}" in empty("show", "noise").output


def test_noise_without_repeats_names_the_command_that_measures_it(measured) -> None:
    assert "memflow run --repeats 3" in measured("show", "noise").output
    assert measured.json("show", "noise")["scores"] == []


def test_unknown_domain_of_noise_is_named(measured) -> None:
    assert "amemgym_demo~1" in measured.error("show", "noise", "amemgym_demo~2")
