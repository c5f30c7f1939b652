"""Import of the published code's results: figures equal to its own metrics, and invalid results by themselves."""

import asyncio
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from amemgym_agents import put
from amemgym_runs import KEY, failure_rates, read_json, write_json, write_run

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.results_import import import_results
from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.benchmarks.views import ImportedResults
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput
from memflow.records import Probe, Score
from memflow.resources.data.library import Library

BENCHMARK, CHAT = AMemGym(), ScriptedChat({})
METRICS = ("accuracy", "write_failure", "read_failure", "utilization_failure")
RUNS = Path(os.environ.get("MEMFLOW_DATA", "missing")) / "amemgym_runs"
needs_runs = pytest.mark.skipif(not RUNS.is_dir(), reason="needs amemgym_runs in MEMFLOW_DATA")


@dataclass(frozen=True)
class ProbeReader:
    """A reader of a lake that has the probes of one domain, or nothing."""

    probes: list[Probe] | None

    def facts(self, table: str, partition: str) -> Any:
        return None if self.probes is None else SimpleNamespace(digest="p", meta={})

    def rows(self, table: str, partition: str) -> list[Any]:
        assert table == "question.probes" and self.probes is not None
        return self.probes


def probes_of(domain: Domain, *datasets: Dataset) -> list[Probe]:
    library = Library(os.environ.get("MEMFLOW_DATA"))
    records = [
        row for each in datasets for row in BENCHMARK.records(library.dataset(each), library.paths(each))
    ]

    async def steps() -> list[Probe]:
        states = await BENCHMARK.states(domain, records, CHAT)
        turns = await BENCHMARK.turns(domain, records, states, CHAT)
        return await BENCHMARK.probes(domain, records, states, turns, CHAT)

    return asyncio.run(steps())


def imported(domain: Domain, probes: list[Probe], folder: Path) -> ImportedResults:
    return import_results(ProbeReader(probes), domain, folder)  # type: ignore[arg-type]


def means(results: ImportedResults) -> dict[tuple[str, int, str], float]:
    """Return the mean verdict by user, period and metric."""
    values: dict[tuple[str, int, str], list[float]] = {}
    for row in results.verdicts:
        if row.metric in METRICS:
            assert row.value is not None, row
            values.setdefault((row.episode_id, row.checkpoint, row.metric), []).append(row.value)
    return {key: sum(each) / len(each) for key, each in values.items()}


def own_metrics(folder: Path) -> dict[tuple[str, int, str], float]:
    """Return the same figures from the metrics that the published code wrote."""
    found = {}
    for user in sorted(path for path in folder.iterdir() if path.is_dir()):
        overall = read_json(user / "overall_metrics.json")["accuracy"]
        counts = read_json(user / "diagnosis_metrics.json")
        for period, accuracy in enumerate(overall):
            found[user.name, period, "accuracy"] = sum(accuracy) / len(accuracy)
            of_period = (counts[name][period] for name in ("write_failure", "read_failure"))
            for metric, rate in failure_rates(accuracy, *of_period).items():
                found[user.name, period, metric] = rate
    return found


def leaderboard(domain: Domain, probes: list[Probe], results: ImportedResults) -> list[Score]:
    return BENCHMARK.scores(
        domain,
        AssistantResults(
            domain=domain.name,
            assistant=results.assistant,
            memory=results.assistant.partition("@")[0],
            model=results.model,
            probes=probes,
            verdicts=results.verdicts,
            oracle=[],
            none=[],
            simulator="the data set",
            scripted=False,
        ),
    )


def assert_leaderboard_pools_users(
    scores: list[Score], metrics: dict[tuple[str, int, str], float], questions: int
) -> None:
    """Every period of the leaderboard is the mean over the questions of all users with that period."""
    shown = {
        (score.metric, score.slice): score
        for score in scores
        if score.variant == "standard" and score.metric in METRICS
    }
    for metric in METRICS:
        periods = sorted({period for _, period, name in metrics if name == metric})
        for period in periods:
            of_period = [value for (_, at, name), value in metrics.items() if (at, name) == (period, metric)]
            score = shown[metric, f"period {period}"]
            assert score.value == pytest.approx(sum(of_period) / len(of_period), abs=1e-12)
            assert score.n == questions * len(of_period)
        every = [value for (_, _, name), value in metrics.items() if name == metric]
        assert shown[metric, "all"].value == pytest.approx(sum(every) / len(every), abs=1e-12)


@pytest.fixture
def run(published_users: Callable[..., Path], tmp_path: Path) -> SimpleNamespace:
    """Return a run of two users with four periods, their domain and its probes."""
    file = published_users(tmp_path / "data", users=2, periods=4, questions=3) / "amemgym/v1.base/data.json"
    users = read_json(file)
    domain = find_domain("amemgym_base")
    dataset = Dataset("users", "", "amemgym", (str(file),), "", "", "", own=True)
    folder = write_run(tmp_path / "run", users)
    return SimpleNamespace(users=users, domain=domain, probes=probes_of(domain, dataset), folder=folder)


def test_imported_scores_equal_the_metrics_of_the_published_code(run) -> None:
    results = imported(run.domain, run.probes, run.folder)
    assert results.faults == []
    expected = own_metrics(run.folder)
    assert means(results) == pytest.approx(expected, abs=1e-12)
    assert len(expected) == 2 * 4 * len(METRICS)
    assert_leaderboard_pools_users(leaderboard(run.domain, run.probes, results), expected, questions=3)


@needs_runs
@pytest.mark.parametrize("agent", ["native", "awi"])
def test_scores_of_recorded_runs_equal_their_own_metrics_per_user_and_period(agent) -> None:
    domain = find_domain(f"amemgym_recorded_{agent}")
    probes = probes_of(domain, Library(RUNS.parent).dataset(domain.datasets[0]))
    results = imported(domain, probes, RUNS / agent)
    expected = own_metrics(RUNS / agent)
    assert results.faults == [] and not any(reply.reason for reply in results.replies)
    assert len(expected) == (11 + 21 + 21) * len(METRICS)
    assert means(results) == pytest.approx(expected, abs=1e-12)
    assert_leaderboard_pools_users(leaderboard(domain, probes, results), expected, questions=10)


def test_import_contains_agent_model_and_settings_but_no_api_key(run) -> None:
    results = imported(run.domain, run.probes, run.folder)
    assert (results.assistant, results.model) == ("imported_awi@small-model", "small model")
    assert results.source.startswith("small-awi of AMemGym's published code, content hash ")
    assert results.settings == {
        "type": "awi",
        "name": "small-awi",
        "llm_model": "small model",
        "max_tokens": 8192,
        "update_bsz": 2,
        "local_length": 4,
    }
    assert KEY not in repr(results)


def test_imported_reply_has_recorded_answer_tokens_and_latency(run) -> None:
    results = imported(run.domain, run.probes, run.folder)
    recorded = read_json(run.folder / run.users[0]["id"] / "overall_results.json")[0][0]
    reply = results.replies[0]
    assert (reply.text, reply.parsed) == (recorded["raw_response"], str(recorded["response"]))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.latency_s) == (900, 12, 0.5)
    assert [reply.probe_id for reply in results.replies] == [probe.probe_id for probe in run.probes]


def test_imported_answer_with_json_error_has_unparsed_verdict_1(run) -> None:
    results = imported(run.domain, run.probes, run.folder)
    unread = {
        (user["id"], period, each["query"])
        for user in run.users
        for period, asked in enumerate(read_json(run.folder / user["id"] / "overall_results.json"))
        for each in asked
        if each["json_error"]
    }
    asked = {probe.probe_id: probe for probe in run.probes if probe.kind == "choice"}
    found = {
        (row.episode_id, row.checkpoint, asked[row.probe_id].question)
        for row in results.verdicts
        if row.metric == "unparsed" and row.probe_id in asked and row.value == 1
    }
    assert found == unread


def change(run: SimpleNamespace, spoil: Callable[[Any], None], name: str = "overall_results.json") -> None:
    """Change the content of one file of the first user."""
    path = run.folder / run.users[0]["id"] / name
    content = read_json(path)
    spoil(content)
    write_json(path, content)


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (
            put("many", 1, 0, "response"),
            r"overall_results.json: period 1, question 0: at response: Input should",
        ),
        (put(None, 1, 0, "answer_choice"), r"period 1, question 0: at answer_choice: Field required"),
        (lambda content: content[1].__setitem__(0, None), r"period 1, question 0: the run was interrupted"),
        (
            put(float("nan"), 1, 0, "scores", "accuracy"),
            r"period 1, question 0: at scores.accuracy: Input should",
        ),
        (put("\ud800", 1, 0, "raw_response"), r"period 1, question 0: a text has half of a surrogate pair"),
        (
            put([], 1, 0, "answer_state"),
            r"period 1, question 0: at answer_state: List should have at least 1",
        ),
        (lambda content: content[1].__setitem__(0, "text"), r"period 1, question 0: at the top level: Input"),
    ],
)
def test_invalid_recorded_result_quarantines_only_its_own_reply(run, spoil, fault) -> None:
    before = imported(run.domain, run.probes, run.folder)
    change(run, spoil)
    results = imported(run.domain, run.probes, run.folder)
    (sentence,) = results.faults
    assert sentence.startswith(f"user {run.users[0]['id']}: ")
    assert re.search(fault, sentence)
    lost = f"{run.users[0]['id']}/p1/q0"
    assert [reply.probe_id for reply in results.replies if reply.reason] == [lost]
    assert [row for row in results.verdicts if row.probe_id != lost] == [
        row for row in before.verdicts if row.probe_id != lost
    ]


@pytest.mark.parametrize(
    ("name", "spoil", "reason"),
    [
        (
            "overall_results.json",
            put("Other words", 0, 0, "answer_choice"),
            "the gold option of the recorded question is not that of the probe",
        ),
        (
            "overall_results.json",
            put("Other words", 0, 0, "response_choice"),
            "the recorded choice is not among the options of the probe",
        ),
        (
            "diagnosis_results.json",
            put("elsewhere", 0, 0, "results", 0, "answer_state"),
            "the true values in the recorded answer are not those of the probe",
        ),
    ],
)
def test_reply_has_reason_if_recorded_answer_contradicts_the_probe(run, name, spoil, reason) -> None:
    change(run, spoil, name)
    results = imported(run.domain, run.probes, run.folder)
    assert [reply.reason for reply in results.replies if reply.reason] == [reason]


def test_reply_has_reason_if_recorded_score_contradicts_the_choice(run) -> None:
    change(
        run, lambda content: content[0][0]["scores"].update(accuracy=1 - content[0][0]["scores"]["accuracy"])
    )
    results = imported(run.domain, run.probes, run.folder)
    reasons = [reply.reason for reply in results.replies if reply.reason]
    assert reasons == ["the recorded score contradicts the recorded choice"]


def test_truncated_file_or_missing_period_affects_only_its_user(run) -> None:
    first, second = (user["id"] for user in run.users)
    (run.folder / first / "overall_results.json").write_text("[[{", encoding="utf-8")
    path = run.folder / second / "diagnosis_results.json"
    write_json(path, read_json(path)[:-1])
    results = imported(run.domain, run.probes, run.folder)
    assert results.faults[0].startswith(f"user {first}: overall_results.json is truncated or invalid JSON")
    answered = {(row.episode_id, row.checkpoint) for row in results.replies if row.parsed is not None}
    assert answered == {(second, period) for period in range(4)}
    unattributed = {
        row.reason for row in results.verdicts if row.metric == "read_failure" and row.episode_id == second
    }
    assert "the state probe of period 3 has no answer" in unattributed


def test_import_lists_users_that_only_the_folder_or_only_the_domain_has(run, tmp_path) -> None:
    (run.folder / run.users[0]["id"]).rename(run.folder / "somebody")
    results = imported(run.domain, run.probes, run.folder)
    assert results.faults == [
        "user somebody is not a user of amemgym_base",
        f"user {run.users[0]['id']} of amemgym_base has no results",
    ]


def test_import_rejects_missing_probes_users_results_or_configuration(run, tmp_path) -> None:
    with pytest.raises(BadInput, match="the lake has no probes of amemgym_base"):
        import_results(ProbeReader(None), run.domain, run.folder)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"nowhere has no file USER/overall_results\.json\. Use the folder"):
        imported(run.domain, run.probes, tmp_path / "nowhere")
    damaged = tmp_path / "agent" / "user1"
    damaged.mkdir(parents=True)
    for name in ("overall_results.json", "diagnosis_results.json"):
        (damaged / name).write_text('[[{"a":', encoding="utf-8")
    reason = r"user user1: diagnosis_results\.json is truncated .* \(and 1 more\)\. Fix or copy the files"
    with pytest.raises(BadInput, match=f"agent has no valid result: {reason}"):
        imported(run.domain, run.probes, damaged.parent)
    for name in ("overall_results.json", "diagnosis_results.json"):
        write_json(damaged / name, [[]])
    write_json(
        damaged / "agent_config.json", read_json(run.folder / run.users[0]["id"] / "agent_config.json")
    )
    with pytest.raises(BadInput, match="agent has no valid result: its files have no answer"):
        imported(run.domain, run.probes, damaged.parent)
    strangers = [replace(probe, episode_id="x") for probe in run.probes]
    with pytest.raises(BadInput, match=r"none of the 2 users in .* is a user of amemgym_base"):
        imported(run.domain, strangers, run.folder)
    change(run, put("awe", "type"), "agent_config.json")
    with pytest.raises(BadInput, match="has results of different agents"):
        imported(run.domain, run.probes, run.folder)
    for user in run.users:
        (run.folder / user["id"] / "agent_config.json").unlink()
    with pytest.raises(BadInput, match=r"has no valid agent_config.json"):
        imported(run.domain, run.probes, run.folder)
