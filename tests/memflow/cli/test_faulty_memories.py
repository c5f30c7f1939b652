"""Faulty and suspect memories on the command line: summary and exit code of a run, leaderboard, comparison, plot."""

from dataclasses import replace
from typing import Any

import pytest
from factories import score
from measured_lake import DOMAINS, write_assistant, write_health, write_probes

import memflow.operations.pipeline
from memflow.cli.run import FAULTY_MEMORY
from memflow.cli.summary import Summary
from memflow.operations.planned_runs import Outcome, PlannedRun
from memflow.records import Score
from memflow.scoring.published_health import AssistantHealth, with_health

EMPTY = "96 of 96 reads were empty although entries were live"
HEALTH = {
    "deaf": AssistantHealth("faulty", EMPTY),
    "odd": AssistantHealth("suspect", "12 of 96 reads failed"),
    "good": AssistantHealth("ok", "none of 9 measures shows a fault"),
}


def scores(*names: str, domain: str = "amemgym_demo") -> list[Score]:
    return with_health(
        [score(domain=domain, assistant=name, memory=name, value=0.5, n=96, planned=96) for name in names],
        HEALTH,
    )


@pytest.mark.parametrize("width", [80, 140])
def test_summary_states_faulty_and_suspect_memories_and_what_to_do(printed: Any, width: int) -> None:
    found = scores("good", "odd", "deaf")
    summary = Summary(Outcome(ran=[PlannedRun("all")] * 4), found, found)
    lines = [" ".join(line.split()) for line in printed(summary, width).splitlines()]
    assert "good 0.500 96 100%" in lines and "odd (suspect) 0.500 96 100%" in lines
    assert "deaf (faulty) not measured 0 of 96 0%" in lines
    text = " ".join(lines)
    command = "`memflow show health amemgym_demo deaf`"
    assert f"Not measured, because the memory is faulty: amemgym_demo: deaf: {EMPTY} {command}" in text
    assert "amemgym_demo: odd: 12 of 96 reads failed" in text
    assert "Fix the memory (`memflow memories check` tests it alone), then rerun." in text
    assert "4 runs done, 0 up to date, 0 failed. 1 faulty, so not measured." in text


@pytest.mark.parametrize(
    ("names", "failed", "code"),
    [
        (("none", "oracle"), False, 0),
        (("none", "odd"), False, 0),
        (("none", "deaf"), False, FAULTY_MEMORY),
        (("deaf",), False, FAULTY_MEMORY),
        (("deaf",), True, 1),
    ],
)
def test_exit_code_of_run(
    empty: Any, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], failed: bool, code: int
) -> None:
    ran = [PlannedRun("domain x assistant", "amemgym_demo", name) for name in names] + [PlannedRun("all")]
    others = () if "deaf" in names else ("deaf",)  # a faulty memory of another run
    outcome = Outcome(
        ran=ran, scores=scores(*names, *others), failed=[(ran[0], "it broke")] if failed else []
    )
    monkeypatch.setattr(memflow.operations.pipeline, "run_pipeline", lambda *arguments: outcome)
    result = empty("run", "--demo", "--domain", "amemgym_demo", "--memory", "none")
    assert result.exit_code == code, result.output


def test_show_leaderboard_states_the_fault_in_place_of_a_value(empty: Any) -> None:
    empty.write("score.leaderboard", "all", scores("good", "odd", "deaf"))
    text = " ".join(empty("show", "leaderboard").stdout.split())
    assert "deaf (faulty) not measured 0 of 96 0 0%" in text.replace("n 96", "")
    assert f"not measured: {EMPTY}" in text and "odd (suspect) 0.500" in text
    assert "Suspect: these scores may be those of a fault of the memory:" in text
    rows = {row["assistant"]: row for row in empty.json("show", "leaderboard")["scores"]}
    assert (rows["deaf"]["value"], rows["deaf"]["health"]) == (None, "faulty")
    assert (rows["odd"]["value"], rows["odd"]["health_reason"]) == (0.5, "12 of 96 reads failed")


def test_bound_of_valid_assistants_has_one_row_beside_a_faulty_one(empty: Any) -> None:
    bounds = [replace(each, metric="random", value=0.25) for each in scores("good", "plain")]
    empty.write("score.leaderboard", "all", [*bounds, replace(scores("deaf")[0], metric="random")])
    text = empty("show", "leaderboard").stdout
    assert text.count("(every assistant)") == 1 and "deaf (faulty)" in text and "good" not in text


@pytest.fixture
def compared(empty: Any) -> Any:
    """Return a home with two assistants in a domain, `full` and `none`, of which `full` is faulty."""
    write_probes(empty.lake, DOMAINS[0])
    for name in ("full", "none"):
        write_assistant(empty.lake, DOMAINS[0], name, 0)
    write_health(empty.lake, DOMAINS[0], "full", "faulty")
    return empty


def test_compare_states_why_a_faulty_memory_is_not_compared(compared: Any) -> None:
    text = " ".join(compared("compare", "none", "full").stdout.split())
    assert "none and full cannot be compared: full is not measured: it is faulty." in text
    assert "full is faulty: it is faulty. `memflow show health comem_demo full` shows examples." in text
    data = compared.json("compare", "none", "full")["domains"][0]
    assert {row["difference"] for row in data["comparisons"]} == {None}
    assert [each["health"] and each["health"]["state"] for each in data["operands"]] == [None, "faulty"]


def test_compare_flags_a_suspect_memory(compared: Any) -> None:
    write_health(compared.lake, DOMAINS[0], "full", "suspect")
    result = compared("compare", "none", "full", "--format", "csv")
    assert ",suspect," in result.stdout
    text = " ".join(compared("compare", "none", "full").stdout.split())
    assert "full is suspect: it is suspect." in text and "cannot be compared" not in text


def test_plot_states_that_all_memories_of_a_domain_are_faulty(empty: Any) -> None:
    rows = [replace(each, slice="period 1") for each in scores("deaf")]
    empty.write("score.leaderboard", "all", rows)
    error = " ".join(empty.error("plot", "amemgym_demo", "--metric", "accuracy").split())
    assert "Memories are faulty, so not measured: `memflow show health amemgym_demo`" in error
