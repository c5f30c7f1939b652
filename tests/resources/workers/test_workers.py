"""Worker processes: the rows, limits, budget and progress of one process; errors, interrupts and killed workers."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stub import count_answers, stub_process

from memflow.chat.ledger import RequestContext
from memflow.chat.prompts import packaged_text
from memflow.chat.replacements import PromptFile, replace_prompts
from memflow.chat.requests import ChatMessage, ChatRequest
from memflow.cli.model_options import ROLES
from memflow.errors import BudgetSpent, Interrupted, MissingData, WorkerLost
from memflow.pipeline import WRITERS, steps_of
from memflow.run.context import STATES, Tables
from resources.data.library import Library
from resources.endpoints.chat import OpenAIChat
from resources.endpoints.limits import Budget
from resources.lake.lake import Lake
from resources.ledger.sql_ledger import SqlLedger
from resources.models.models import Models
from resources.settings.sections import BudgetLimits
from resources.settings.settings import Settings, load
from resources.steps import StepRunner
from resources.validation.checks import Scope, check_partition
from resources.workers import worker_process

DOMAIN = "amemgym_base"
ASSISTANT = "rag_2_4_30"
ECHO = Path(__file__).parents[3] / "resources" / "memory_servers" / "echo.py"
PLAY, ANSWER = WRITERS["memory.transcripts"], WRITERS["answer.replies"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, published_users: Callable[..., Path]) -> Lake:
    """Return a lake with the rows of a domain of four users."""
    folder = tmp_path_factory.mktemp("generated")
    data = published_users(folder, users=4, periods=3, questions=2)
    lake = Lake(folder / "lake")
    with runner(lake, folder / "home", data=data) as running:
        domain = running.settings.domain(DOMAIN)
        for dataset in domain.datasets:
            write(lake, dataset, running.run(*steps_of("dataset"), "r", dataset=dataset))
        for step in steps_of("domain"):
            write(lake, DOMAIN, running.run(step, "r", domain=domain))
    return lake


def write(lake: Lake, partition: str, tables: Tables) -> None:
    for table, rows in tables.items():
        lake.write(table, partition, rows, fingerprint="")


@contextmanager
def runner(
    lake: Lake,
    home: Path,
    url: str = "",
    processes: int = 1,
    budget: Budget | None = None,
    data: Path | None = None,
    ledger: str = "",
    memories: dict[str, Any] | None = None,
    **model: Any,
) -> Iterator[StepRunner]:
    """Yield a runner of steps. The model at `url` has every role; without a URL, the scripted chat."""
    home.mkdir(exist_ok=True)
    over: dict[str, Any] = {"home": home, "lake": lake.root, "processes": processes, "ledger": ledger}
    over |= {"memories": memories} if memories else {}
    if url:
        over |= {
            "models": {"stub": {"url": url, "model": "stub", **model}},
            "roles": dict.fromkeys(ROLES, "stub"),
            "embedder": {"kind": "hashing"},
        }
    settings: Settings = load(over=over)
    models = Models(settings, SqlLedger(settings.ledger_url), budget)
    try:
        yield StepRunner(settings, lake, Library(data, settings.datasets), models)
    finally:
        models.close()


def play(running: StepRunner) -> Tables:
    return running.run(PLAY, "r", domain=running.settings.domain(DOMAIN), assistant=ASSISTANT)


def text(tables: Tables) -> list[tuple[str, str]]:
    return [(row.message_id, row.text) for row in tables["memory.transcripts"]]


def counts(url: str) -> dict[str, int]:
    """Return the numbers of requests that the stub has counted."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stub/counts") as counted:
        found: dict[str, int] = json.load(counted)
    return found


def pids(running: StepRunner) -> list[int]:
    return [worker.process.pid for worker in running.models.workers._workers.values()]


def ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def expected(generated: Lake, tmp_path: Path) -> list[tuple[str, str]]:
    """Return the transcript of one process with the stub."""
    with stub_process() as url, runner(generated, tmp_path / "one", url) as running:
        return text(play(running))


@pytest.mark.parametrize("processes", [2, 3, 9])
def test_worker_processes_return_the_rows_of_one_process_and_share_the_request_limit(
    processes: int, generated, expected, tmp_path: Path
) -> None:
    log = tmp_path / "answers.jsonl"
    with (
        stub_process(latency=0.05, log=log) as url,
        runner(generated, tmp_path / "home", url, processes, concurrency=3) as running,
    ):
        assert text(play(running)) == expected
        assert counts(url)["most_in_flight"] <= 3
        assert len(pids(running)) == min(processes, 3), "each process needs a share of the limit"
    assert max(count_answers(log).values()) == 1


@pytest.mark.postgres
def test_processes_share_a_ledger_in_postgresql(generated, expected, tmp_path: Path, postgres_url) -> None:
    log = tmp_path / "answers.jsonl"
    with (
        stub_process(latency=0.05, log=log) as url,
        runner(generated, tmp_path / "home", url, 2, ledger=postgres_url) as running,
    ):
        assert text(play(running)) == expected
        # Other tests write to the same database.
        usage = {row.by["domain"]: row.requests for row in running.models.ledger.usage(by=("domain",))}
        assert usage[DOMAIN] == sum(count_answers(log).values())
    assert max(count_answers(log).values()) == 1


def test_worker_processes_serve_several_steps_and_end_when_models_close(generated, tmp_path: Path) -> None:
    with runner(generated, tmp_path / "home", processes=2) as running:
        first = play(running)
        started = pids(running)
        assert text(play(running)) == text(first)
        assert pids(running) == started
    assert all(map(ended, started))


def test_started_worker_processes_execute_the_steps(generated, tmp_path: Path) -> None:
    with runner(generated, tmp_path / "home", processes=2) as running:
        running.models.workers.start(running.settings)
        started = pids(running)
        assert len(started) == 2
        play(running)
        running.models.workers.start(running.settings)
        assert pids(running) == started
    with runner(generated, tmp_path / "home") as running:
        running.models.workers.start(running.settings)
        assert pids(running) == [], "one process needs no workers"


@pytest.mark.parametrize("table", ["question.probes", "utterance.turns", "state.profiles"])
def test_worker_processes_return_the_check_results_of_one_process(generated, tmp_path: Path, table) -> None:
    """The rules are divided among the workers, also where one of them gets none."""
    with runner(generated, tmp_path / "home", processes=3) as running:
        workers = running.models.workers
        assert workers.check(table, DOMAIN) is None, "no worker is running"
        workers.start(running.settings)
        results = workers.check(table, DOMAIN)
        assert results == check_partition(table, DOMAIN, generated, Scope.of(table, DOMAIN, running.settings))
        assert results
        with pytest.raises(MissingData):
            workers.check(table, "amemgym_demo")


def test_worker_processes_send_the_replaced_prompts_of_their_parent(generated, tmp_path: Path) -> None:
    package, text = (
        "memflow.benchmarks.amemgym",
        packaged_text("memflow.benchmarks.amemgym", "choice_with_notes"),
    )
    file = PromptFile("mine/amemgym/choice_with_notes.md", f"{text}Changed.\n", package, ("assistant",))
    replace_prompts({"amemgym/choice_with_notes": file})
    try:
        with runner(generated, tmp_path / "home", processes=2) as running:
            for step in (PLAY, ANSWER):
                domain = running.settings.domain(DOMAIN)
                tables = running.run(step, "r", domain=domain, assistant=ASSISTANT, asks_early=True)
                write(generated, f"{DOMAIN}/{ASSISTANT}", tables)
            prompts = {row.prompt for row in generated.read("answer.replies", f"{DOMAIN}/{ASSISTANT}")}
            assert len(pids(running)) == 2
    finally:
        replace_prompts({})
    assert f"amemgym/choice_with_notes@{file.digest[:8]}" in prompts


def test_progress_is_the_sum_of_all_processes(generated, tmp_path: Path) -> None:
    ends = []
    for processes in (1, 2):
        seen: list[tuple[RequestContext, int, int]] = []
        with runner(generated, tmp_path / f"{processes}", processes=processes) as running:
            running.models.watch = lambda *progress, seen=seen: seen.append(progress)
            play(running)
        ends.append(seen[-1])
    assert ends[0] == ends[1] and ends[0][1] == ends[0][2] > 4


def test_budget_is_a_hard_limit_over_all_processes(generated, tmp_path: Path) -> None:
    budget = Budget(calls=15)
    with (
        stub_process(latency=0.02) as url,
        runner(generated, tmp_path / "home", url, 2, budget) as running,
    ):
        with pytest.raises(BudgetSpent, match="15 calls"):
            play(running)
        assert counts(url)["asked"] <= 15
    assert budget.spent.calls == 15


def test_missing_data_in_a_worker_process_raises_missing_data(generated, tmp_path: Path) -> None:
    with (
        runner(Lake(tmp_path / "empty"), tmp_path / "home", processes=2) as running,
        pytest.raises(MissingData, match="memflow run"),
    ):
        play(running)


@contextmanager
def play_in_thread(running: StepRunner, log: Path) -> Iterator[Any]:
    """Yield the future of a step that has stored some answers."""
    with ThreadPoolExecutor(1) as threads:
        playing = threads.submit(play, running)
        while not (log.exists() and log.read_text().count("\n") > 10):
            assert not playing.done(), playing.result()
            time.sleep(0.02)
        yield playing


def test_killed_worker_process_fails_the_step_and_is_replaced(generated, expected, tmp_path: Path) -> None:
    log = tmp_path / "answers.jsonl"
    with (
        stub_process(latency=0.1, log=log) as url,
        runner(generated, tmp_path / "home", url, 2, concurrency=4) as running,
    ):
        with play_in_thread(running, log) as playing:
            killed = pids(running)[1]
            os.kill(killed, signal.SIGKILL)
            with pytest.raises(
                WorkerLost, match=rf"process 1 \(pid {killed}\) was killed by signal 9. Rerun"
            ):
                playing.result(30)
        assert text(play(running)) == expected
        assert killed not in pids(running)
    sent = count_answers(log)
    assert sum(sent.values()) - len(sent) <= 2, "only requests in flight may be sent again"


def test_interrupt_ends_the_step_within_seconds_and_keeps_the_answers(
    generated, expected, tmp_path: Path
) -> None:
    log, home = tmp_path / "answers.jsonl", tmp_path / "home"
    with stub_process(latency=0.1, log=log) as url:
        with runner(generated, home, url, 2, concurrency=4) as running:
            with play_in_thread(running, log) as playing:
                running.models.interrupt()
                with pytest.raises(Interrupted, match="Rerun"):
                    playing.result(10)
            left = pids(running)
        assert all(map(ended, left))
        with runner(generated, home, url, 2, concurrency=4) as running:
            assert text(play(running)) == expected
    sent = count_answers(log)
    assert sum(sent.values()) - len(sent) <= 4, "only requests in flight may be sent again"


def test_step_after_an_interrupt_is_rejected(generated, tmp_path: Path) -> None:
    with runner(generated, tmp_path / "home", processes=2) as running:
        running.models.interrupt()
        with pytest.raises(Interrupted, match="Rerun"):
            play(running)


def test_early_answers_of_two_worker_processes_equal_those_of_one(generated, tmp_path: Path) -> None:
    replies = []
    for processes in (1, 2):
        log, lake = tmp_path / f"{processes}.jsonl", Lake(tmp_path / f"lake{processes}")
        for table in ("state.profiles", "state.variables", "state.changes", "state.entities"):
            write(lake, DOMAIN, {table: generated.read(table, DOMAIN)})
        for table in ("utterance.turns", "feedback.sessions", "question.probes"):
            write(lake, DOMAIN, {table: generated.read(table, DOMAIN)})
        with (
            stub_process(latency=0.01, log=log) as url,
            runner(lake, tmp_path / f"home{processes}", url, processes) as running,
        ):
            chosen = {"domain": running.settings.domain(DOMAIN), "assistant": ASSISTANT, "asks_early": True}
            write(lake, f"{DOMAIN}/{ASSISTANT}", running.run(PLAY, "r", **chosen))
            rows = running.run(ANSWER, "r", **chosen)["answer.replies"]
            running.models.end_run("r")
        replies.append([(row.probe_id, row.parsed, row.recalled) for row in rows])
        assert max(count_answers(log).values()) == 1
    assert replies[0] == replies[1]


def test_one_worker_process_plays_and_reads_a_memory_server(generated, tmp_path: Path) -> None:
    """A server that is not deterministic can be read as of a write only by the process that played with it."""
    server = tmp_path / "server.py"
    text = ECHO.read_text(encoding="utf-8").replace('"deterministic": True', '"deterministic": False')
    server.write_text(text, encoding="utf-8")
    memories = {"echo": {"command": [sys.executable, str(server)], "mode": "as_of", "unchecked": True}}
    lake = Lake(tmp_path / "lake")
    for table in (*STATES, "utterance.turns", "feedback.sessions", "question.probes"):
        write(lake, DOMAIN, {table: generated.read(table, DOMAIN)})
    with stub_process() as url, runner(lake, tmp_path / "home", url, 3, memories=memories) as running:
        chosen = {"domain": running.settings.domain(DOMAIN), "assistant": "echo"}
        write(lake, f"{DOMAIN}/echo", running.run(PLAY, "r", **chosen))
        rows = running.run(ANSWER, "r", **chosen)["answer.replies"]
        assert len(pids(running)) == 1
    assert {row.reason for row in rows} == {None}
    assert any(row.recalled for row in rows)


def test_program_of_a_worker_does_not_import_dagster() -> None:
    code = "import resources.workers.worker_process, sys; print('dagster' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_worker_reserves_tokens_for_a_budget_of_tokens() -> None:
    request = ChatRequest("p", {}, (ChatMessage("user", "some words"),))
    for limits, tokens in ((BudgetLimits(calls=5), False), (BudgetLimits(tokens=5), True)):
        budget = worker_process._ParentBudget(None, limits)  # type: ignore[arg-type]
        chat = OpenAIChat("http://127.0.0.1:9", "m", "f", budget=budget)
        assert (chat.most_spending(request).tokens > 0) is tokens
