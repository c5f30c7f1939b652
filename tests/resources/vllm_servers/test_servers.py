"""vLLM servers of the settings: an existing one is checked; a started one is shared, and ends with its last user."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from fake_vllm import fake_vllm, is_alive, starts, workers
from pydantic import BaseModel, Field

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.errors import BadSettings, EndpointDown
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.clients import Clients
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.settings import Settings
from memflow.resources.vllm_servers.servers import VllmServers


def wait_until(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "the condition did not become true"
        time.sleep(0.05)


def settings_of(program: str, **settings: Any) -> dict[str, Any]:
    return {"kind": "vllm", "model": "tiny", "executable": program, **settings}


@contextmanager
def servers_of(home: Path, program: str, **settings: Any) -> Iterator[VllmServers]:
    with closing(VllmServers({"small": Model(**settings_of(program, **settings))}, home)) as servers:
        yield servers


def models_at(url: str) -> int:
    with urllib.request.urlopen(url + "/models", timeout=5) as response:
        return int(response.status)


def test_started_server_ends_with_its_worker_processes(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", options="--max-model-len 8192")
    settings = {"max_model_len": 8192, "arguments": ("--enforce-eager",), "gpus": "3"}
    with servers_of(tmp_path / "home", program, **settings) as servers:
        url = servers.url("small")
        assert servers.url("small") == url and models_at(url) == 200
        (worker,) = workers(tmp_path / "fake")
        assert is_alive(worker) and servers.outage("small") is None
        facts = servers.facts()["small"]
    wait_until(lambda: not is_alive(worker))
    ((_, devices, *words),) = starts(tmp_path / "fake")
    assert devices == "3" and words[:2] == ["serve", "tiny"]
    assert words[-7:-1] == ["--max-model-len", "8192", "--enforce-eager", "--host", "127.0.0.1", "--port"]
    assert '{"backend":"guidance","disable_any_whitespace":true}' in words
    assert facts["variables"] == {"CUDA_VISIBLE_DEVICES": "3"} and facts["address"] == url
    assert facts["command"] == [program, *words]
    assert "serving on port" in Path(facts["log"]).read_text() + facts["log_end"]


def test_program_that_cannot_be_run_is_a_wrong_setting(tmp_path: Path) -> None:
    with (
        servers_of(tmp_path, "no-such-vllm") as servers,
        pytest.raises(BadSettings, match=r"cannot run 'no-such-vllm'.*memflow\.toml"),
    ):
        servers.url("small")


def test_server_that_exits_early_raises_an_error_with_its_log(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "echo no such weights; exit 3")
    with servers_of(tmp_path / "home", program) as servers:
        for _ in range(2):
            with pytest.raises(EndpointDown, match=r"(?s)ended before it .*no such weights.* with status 3"):
                servers.url("small")
    assert len(starts(tmp_path / "fake")) == 2


def test_server_that_is_never_ready_raises_an_error_after_the_timeout_and_ends(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "echo loading; exec sleep 600")
    with servers_of(tmp_path / "home", program, startup=1) as servers:
        with pytest.raises(EndpointDown, match=r"(?s)was not ready after 1 s.*loading"):
            servers.url("small")
        ((leader, *_),) = starts(tmp_path / "fake")
        wait_until(lambda: not Path(f"/proc/{leader}").exists())


def test_close_gives_up_a_start_in_another_thread(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "echo loading; exec sleep 600")
    with servers_of(tmp_path / "home", program) as servers, ThreadPoolExecutor(1) as threads:
        starting = threads.submit(servers.url, "small")
        wait_until(lambda: starts(tmp_path / "fake"))
        servers.close()
        with pytest.raises(EndpointDown, match="was given up, since the run ends"):
            starting.result(5)
        with pytest.raises(EndpointDown, match="was given up"):
            servers.url("small")
    ((leader, *_),) = starts(tmp_path / "fake")
    wait_until(lambda: not Path(f"/proc/{leader}").exists())


def test_two_users_share_a_server_until_the_last_has_left(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake")
    with servers_of(tmp_path / "home", program) as first:
        with servers_of(tmp_path / "home", program, temperature=0.7) as second:
            assert first.url("small") == second.url("small")
        time.sleep(0.5)
        assert models_at(first.url("small")) == 200
    assert len(starts(tmp_path / "fake")) == 1
    wait_until(lambda: not any(map(is_alive, workers(tmp_path / "fake"))))


@contextmanager
def chat_with(folder: Path, servers: VllmServers) -> Iterator[Callable[[str], str]]:
    """Yield a function that asks the model `small` as a run does, and returns the text."""
    folder.mkdir(exist_ok=True)
    settings = Settings(models={"small": servers._models["small"]}, home=folder)
    with SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger, asyncio.Runner() as runner:
        clients = Clients(settings, ledger, servers, None)

        def ask(text: str) -> str:
            request = ChatRequest("test/say", {}, (ChatMessage("user", text),))

            async def complete() -> str:
                return (await (await clients.chat("small")).complete(request)).text

            return runner.run(complete())

        yield ask
        runner.run(clients.close())


@pytest.mark.kill
def test_crash_of_a_server_ends_requests_with_its_log_and_the_next_run_starts_another(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake")
    for text in ("one", "two"):
        with (
            servers_of(tmp_path / "home", program, patience=2) as servers,
            chat_with(tmp_path / "home", servers) as ask,
        ):
            assert ask(text)
            os.kill(workers(tmp_path / "fake")[-1], signal.SIGKILL)
            with pytest.raises(EndpointDown, match=r"(?s)vLLM for tiny has ended.*status 137"):
                ask(f"{text} after the crash")
    assert len(starts(tmp_path / "fake")) == 2


USER = """
import sys, time
from pathlib import Path
from memflow.resources.settings.chat_models import Model
from memflow.resources.vllm_servers.servers import VllmServers

servers = VllmServers({"small": Model(kind="vllm", model="tiny", executable=sys.argv[1])}, Path(sys.argv[2]))
print(servers.url("small"), flush=True)
time.sleep(600)
"""


@contextmanager
def user_process(program: str, home: Path) -> Iterator["subprocess.Popen[str]"]:
    words = [sys.executable, "-c", USER, program, str(home)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_server_ends_when_its_users_are_killed(tmp_path: Path, number: signal.Signals) -> None:
    program = fake_vllm(tmp_path / "fake")
    with user_process(program, tmp_path / "home") as one, user_process(program, tmp_path / "home") as two:
        assert first_line(one) == first_line(two) != ""
        (worker,) = workers(tmp_path / "fake")
        one.send_signal(number)
        one.wait(10)
        time.sleep(1)
        assert is_alive(worker)
        two.send_signal(number)
        wait_until(lambda: not is_alive(worker))
    assert len(starts(tmp_path / "fake")) == 1


def test_existing_server_is_used_as_it_is(tmp_path: Path) -> None:
    url = "http://127.0.0.1:1/v1"
    with closing(VllmServers({"small": Model(kind="vllm", model="tiny", url=url)}, tmp_path)) as servers:
        assert (servers.url("small"), servers.outage("small"), servers.facts()) == (url, None, {})


class Diary(BaseModel):
    title: Annotated[str, Field(max_length=20)]
    moods: Annotated[list[Annotated[str, Field(max_length=10)]], Field(max_length=3)]
    score: Annotated[int, Field(ge=1, le=10)]


@pytest.mark.vllm
async def test_vllm_completions_match_the_schema() -> None:
    url = os.environ.get("MEMFLOW_VLLM_URL")
    if not url:
        pytest.skip("MEMFLOW_VLLM_URL names no running vLLM server")
    model = os.environ.get("MEMFLOW_VLLM_MODEL", "tiny")
    async with OpenAIChat(url, model, "tiny", concurrency=4) as chat:
        for number in range(3):
            message = ChatMessage("user", f"Write entry {number} of a diary.")
            completion = await chat.complete(
                ChatRequest("test/diary", {}, (message,), Sampling(1.0, max_tokens=300), Diary)
            )
            assert completion.finish_reason == "stop"
            Diary.model_validate_json(completion.text)
            assert completion.prompt_tokens > 0
            assert completion.latency_s > 0


@pytest.mark.vllm
def test_memflow_starts_vllm_that_two_processes_share(tmp_path: Path) -> None:
    program, model = os.environ.get("MEMFLOW_VLLM_EXECUTABLE"), os.environ.get("MEMFLOW_VLLM_MODEL", "")
    if not program or not Path(model).is_dir():
        pytest.skip(
            "MEMFLOW_VLLM_EXECUTABLE and MEMFLOW_VLLM_MODEL name no vllm program and folder of weights"
        )
    settings = {"model": model, "max_model_len": 4096, "arguments": ("--enforce-eager",)}
    home = tmp_path / "home"
    with servers_of(home, program, **settings) as first, servers_of(home, program, **settings) as second:
        url = first.url("small")
        assert second.url("small") == url
        assert models_at(url) == 200
    with pytest.raises(OSError, match="refused"):
        for _ in range(60):
            models_at(url)
            time.sleep(1)
