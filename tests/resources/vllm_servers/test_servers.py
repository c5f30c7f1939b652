"""vLLM servers of the settings: an existing one is checked, a started one is shared, restarted once, and ended."""

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
from fake_vllm import fake_vllm, is_alive, starts, state_of, workers
from pydantic import BaseModel, Field
from stub import stub_process

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.errors import BadSettings, EndpointDown
from memflow.shares import WHOLE
from resources.endpoints.chat import OpenAIChat
from resources.ledger.sql_ledger import SqlLedger
from resources.models.clients import Clients
from resources.settings.chat_models import Model
from resources.settings.settings import Settings
from resources.vllm_servers.servers import VllmServers


def wait_until(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "the condition did not become true"
        time.sleep(0.05)
    return found


def model_of(program: str, **settings: Any) -> Model:
    return Model(**{"kind": "vllm", "model": "tiny", "executable": program, "idle": 0, **settings})


@contextmanager
def servers_of(home: Path, program: str, **settings: Any) -> Iterator[VllmServers]:
    with closing(VllmServers({"small": model_of(program, **settings)}, home)) as servers:
        yield servers


def statuses_of(home: Path) -> list[str]:
    return [each["status"] for each in state_of(home)["replicas"]]  # type: ignore[attr-defined]


def models_at(url: str) -> int:
    with urllib.request.urlopen(url + "/models", timeout=5) as response:
        return int(response.status)


def test_started_server_ends_with_its_worker_processes(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", options="--version 0.32.0 --max-model-len 8192")
    with servers_of(
        tmp_path / "home", program, max_model_len=8192, arguments=("--enforce-eager",)
    ) as servers:
        (url,) = servers.urls("small")
        assert servers.urls("small") == (url,) and models_at(url) == 200
        (worker,) = workers(tmp_path / "fake")
        assert is_alive(worker)
        facts = servers.facts()["small"]
    assert not is_alive(worker)
    assert state_of(tmp_path / "home")["status"] == "ended"
    ((_, devices, *words),) = starts(tmp_path / "fake")
    assert devices == "" and words[:5] == ["serve", "tiny", "--host", "127.0.0.1", "--port"]
    assert words[-3:] == ["--max-model-len", "8192", "--enforce-eager"]
    assert '{"backend":"guidance","disable_any_whitespace":true}' in words
    assert (facts["vllm"], facts["max_model_len"]) == (["0.32.0"], [8192])
    (replica,) = facts["replicas"]
    assert "serving on port" in replica["log_end"] and replica["startup_s"] > 0 and replica["restarts"] == 0


def test_replicas_get_consecutive_devices_and_one_address_each(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    program = fake_vllm(tmp_path / "fake")
    with servers_of(tmp_path / "home", program, replicas=2, tensor_parallel=2) as servers:
        urls = servers.urls("small")
        assert len(set(urls)) == 2 and [models_at(url) for url in urls] == [200, 200]
        assert sorted(devices for _, devices, *_ in starts(tmp_path / "fake")) == ["4,5", "6,7"]
    assert not any(map(is_alive, workers(tmp_path / "fake")))
    with (
        servers_of(tmp_path / "home", program, replicas=3, tensor_parallel=2) as servers,
        pytest.raises(BadSettings, match="3 replicas of 2 devices need 6, and visible are 4, 5, 6, 7"),
    ):
        servers.urls("small")


def test_program_that_cannot_be_run_is_a_wrong_setting(tmp_path: Path) -> None:
    with (
        servers_of(tmp_path, "no-such-vllm") as servers,
        pytest.raises(BadSettings, match=r"cannot run 'no-such-vllm' .*memflow\.toml"),
    ):
        servers.urls("small")


def test_server_that_serves_another_model_is_rejected_and_ended(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", model="other")
    with (
        servers_of(tmp_path / "home", program) as servers,
        pytest.raises(EndpointDown, match="serves other, but not 'tiny'"),
    ):
        servers.urls("small")
    assert not any(map(is_alive, workers(tmp_path / "fake")))


def test_server_that_exits_early_raises_an_error_with_its_log(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "echo no such weights; exit 3")
    with servers_of(tmp_path / "home", program) as servers:
        for _ in range(2):
            with pytest.raises(EndpointDown, match=r"(?s)exited with status 3\. .*no such weights"):
                servers.urls("small")
    assert len(starts(tmp_path / "fake")) == 2
    assert len(list((tmp_path / "home").glob("vllm/*/*/replica_1*.log"))) == 2


def test_server_that_is_never_ready_raises_an_error_after_the_timeout(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "echo loading; exec sleep 60")
    with (
        servers_of(tmp_path / "home", program, startup=0.3) as servers,
        pytest.raises(EndpointDown, match=r"(?s)was not ready after 0.3 s.*loading"),
    ):
        servers.urls("small")
    assert wait_until(lambda: state_of(tmp_path / "home")["status"] == "failed")


def test_close_gives_up_a_start_in_another_thread(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "echo loading; exec sleep 600")
    with servers_of(tmp_path / "home", program) as servers, ThreadPoolExecutor(1) as threads:
        starting = threads.submit(servers.urls, "small")
        wait_until(lambda: starts(tmp_path / "fake"))
        servers.close()
        with pytest.raises(EndpointDown, match="was given up, since the run ends"):
            starting.result(5)
        with pytest.raises(EndpointDown, match="was given up"):
            servers.urls("small")
    assert len(starts(tmp_path / "fake")) == 1
    assert wait_until(lambda: state_of(tmp_path / "home")["status"] == "ended")


def test_server_whose_port_was_taken_gets_another(tmp_path: Path) -> None:
    taken = '[ $number = 1 ] && { echo "OSError: [Errno 98] Address already in use"; exit 1; }'
    with servers_of(tmp_path / "home", fake_vllm(tmp_path / "fake", taken)) as servers:
        (url,) = servers.urls("small")
        assert models_at(url) == 200
        first, second = (words[7] for words in starts(tmp_path / "fake"))
        assert first != second and f":{second}/" in url


def test_two_users_share_a_server_until_the_last_has_left(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake")
    with servers_of(tmp_path / "home", program) as first:
        with servers_of(tmp_path / "home", program, temperature=0.7) as second:
            assert first.urls("small") == second.urls("small")
        assert models_at(first.urls("small")[0]) == 200
    assert len(starts(tmp_path / "fake")) == 1
    assert not any(map(is_alive, workers(tmp_path / "fake")))


def test_unused_server_is_used_again_within_its_idle_time(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake")
    with servers_of(tmp_path / "home", program, idle=600) as servers:
        urls = servers.urls("small")
    with servers_of(tmp_path / "home", program, idle=600) as servers:
        assert servers.urls("small") == urls
    (worker,) = workers(tmp_path / "fake")
    assert is_alive(worker)
    # Another model needs the memory, so the unused server ends at once.
    other = fake_vllm(tmp_path / "other")
    with servers_of(tmp_path / "home", other) as servers:
        servers.urls("small")
        assert not is_alive(worker)


def test_unused_server_ends_after_its_idle_time(tmp_path: Path) -> None:
    with servers_of(tmp_path / "home", fake_vllm(tmp_path / "fake"), idle=0.5) as servers:
        servers.urls("small")
    (worker,) = workers(tmp_path / "fake")
    assert wait_until(lambda: not is_alive(worker))


@contextmanager
def chat_with(folder: Path, servers: VllmServers) -> Iterator[Callable[[str], str]]:
    """Yield a function that asks the model `small` as a run does, and returns the text."""
    folder.mkdir(exist_ok=True)
    settings = Settings(models={"small": servers._models["small"]}, home=folder)
    with SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger, asyncio.Runner() as runner:
        clients = Clients(settings, ledger, servers, None, WHOLE)

        def ask(text: str) -> str:
            request = ChatRequest("test/say", {}, (ChatMessage("user", text),))

            async def complete() -> str:
                return (await (await clients.chat("small")).complete(request)).text

            return runner.run(complete())

        yield ask
        runner.run(clients.close())


@pytest.mark.kill
def test_crashed_server_is_restarted_once_and_requests_go_on(tmp_path: Path) -> None:
    # The second start takes longer than the client retries an address that never answered.
    program = fake_vllm(tmp_path / "fake", "[ $number = 2 ] && sleep 7; [ $number = 3 ] && exit 9")
    with (
        servers_of(tmp_path / "home", program, patience=2) as servers,
        chat_with(tmp_path / "home", servers) as ask,
    ):
        assert ask("one")
        os.kill(workers(tmp_path / "fake")[0], signal.SIGKILL)
        assert ask("two")
        assert servers.facts()["small"]["replicas"][0]["restarts"] == 1
        os.kill(workers(tmp_path / "fake")[1], signal.SIGKILL)
        with pytest.raises(
            EndpointDown, match=r"(?s)vLLM for tiny exited with status 137 after a restart.*rerun"
        ):
            ask("three")
    assert len(starts(tmp_path / "fake")) == 2


@pytest.mark.kill
def test_other_replica_answers_while_one_restarts(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "[ $number = 3 ] && sleep 8")
    with (
        servers_of(tmp_path / "home", program, replicas=2) as servers,
        chat_with(tmp_path / "home", servers) as ask,
    ):
        assert ask("one")
        killed, other = workers(tmp_path / "fake")
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: "restarting" in statuses_of(tmp_path / "home"))
        for number in range(8):
            assert ask(f"while it restarts {number}")
        assert sorted(statuses_of(tmp_path / "home")) == ["ready", "restarting"] and is_alive(other)
        wait_until(lambda: statuses_of(tmp_path / "home") == ["ready", "ready"])
        assert [models_at(url) for url in servers.urls("small")] == [200, 200]
    assert len(starts(tmp_path / "fake")) == 3


@pytest.mark.kill
def test_next_user_waits_for_a_replica_that_restarts(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake", "[ $number = 3 ] && sleep 2")
    with servers_of(tmp_path / "home", program, replicas=2) as first:
        urls = first.urls("small")
        os.kill(workers(tmp_path / "fake")[0], signal.SIGKILL)
        wait_until(lambda: "restarting" in statuses_of(tmp_path / "home"))
        with servers_of(tmp_path / "home", program, replicas=2) as second:
            assert second.urls("small") == urls
            assert statuses_of(tmp_path / "home") == ["ready", "ready"]


USER = """
import sys, time
from pathlib import Path
from resources.settings.chat_models import Model
from resources.vllm_servers.servers import VllmServers

servers = VllmServers({"small": Model(kind="vllm", model="tiny", executable=sys.argv[1], idle=0.5)}, Path(sys.argv[2]))
print(servers.urls("small")[0], flush=True)
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
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_server_ends_when_its_users_are_killed(tmp_path: Path, number: signal.Signals) -> None:
    program = fake_vllm(tmp_path / "fake")
    with user_process(program, tmp_path / "home") as one, user_process(program, tmp_path / "home") as two:
        assert first_line(one) == first_line(two) != ""
        (worker,) = workers(tmp_path / "fake")
        one.send_signal(number)
        one.wait(10)
        time.sleep(1.5)
        assert is_alive(worker)
        two.send_signal(number)
        assert wait_until(lambda: not is_alive(worker))
    assert len(starts(tmp_path / "fake")) == 1


@pytest.mark.kill
def test_next_start_ends_the_server_of_a_killed_supervisor_and_no_other_process(tmp_path: Path) -> None:
    program = fake_vllm(tmp_path / "fake")
    with (
        servers_of(tmp_path / "home", program) as first,
        subprocess.Popen(["sleep", "600"], start_new_session=True) as stranger,
    ):
        (url,) = first.urls("small")
        (worker,) = workers(tmp_path / "fake")
        supervisor = state_of(tmp_path / "home")["pid"]
        assert isinstance(supervisor, int)
        os.kill(supervisor, signal.SIGKILL)
        # The system ends the program with its supervisor. The worker is in its session, and runs on.
        leader = int(starts(tmp_path / "fake")[0][0])
        wait_until(lambda: not Path(f"/proc/{leader}").exists())
        assert is_alive(worker)
        outage = first.outage("small")
        assert outage is not None and not outage.ends and "was killed" in outage.reason
        with servers_of(tmp_path / "home", program) as second:
            assert second.urls("small") != (url,)
            assert not is_alive(worker)
        assert stranger.poll() is None
        stranger.kill()


def test_existing_server_is_checked_and_used() -> None:
    with stub_process(model="tiny", version="0.32.0", max_model_len=4096) as url:
        with closing(VllmServers({"small": Model(kind="vllm", model="tiny", url=url)})) as servers:
            assert servers.urls("small") == (url,)
            assert servers.facts()["small"] == {
                "addresses": [url],
                "vllm": ["0.32.0"],
                "max_model_len": [4096],
            }
            assert servers.outage("small") is None
        for settings, message in (
            ({"model": "other"}, "serves tiny, but not 'other'"),
            ({"model": "tiny", "max_model_len": 8192}, "accepts 4096 tokens .* `max_model_len` is 8192"),
        ):
            with pytest.raises(EndpointDown, match=message):
                VllmServers({"small": Model(kind="vllm", url=url, **settings)}).urls("small")
    with pytest.raises(EndpointDown, match="cannot connect"):
        VllmServers({"small": Model(kind="vllm", model="tiny", url=url)}).urls("small")


def test_one_healthy_server_of_several_suffices_at_the_start(caplog: pytest.LogCaptureFixture) -> None:
    with stub_process(model="tiny") as gone:
        pass
    with stub_process(model="tiny") as url:
        model = Model(kind="vllm", model="tiny", urls=(gone, url))
        with closing(VllmServers({"small": model})) as servers:
            assert servers.urls("small") == (gone, url)
        assert f"no healthy server at {gone}" in caplog.text and "tried again" in caplog.text
        with pytest.raises(EndpointDown, match="serves tiny, but not 'other'"):
            VllmServers({"small": model.model_copy(update={"model": "other"})}).urls("small")
    with pytest.raises(EndpointDown, match=f"(?s){gone}.*{url}"):
        VllmServers({"small": model}).urls("small")


KEYED = """
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status = 200 if self.path == "/health" or self.headers.get("Authorization") == "Bearer right-key" else 401
        if self.path == "/moved/health":
            status = 200
        if self.path == "/moved/v1/models":
            status = 302
        self.send_response(status)
        self.send_header("Location", "/v1/models")
        self.end_headers()
        if status == 200:
            self.wfile.write(json.dumps({"data": [{"id": "tiny"}]}).encode())

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def test_existing_server_gets_the_key_and_redirects_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_KEY", "right-key")
    with subprocess.Popen([sys.executable, "-c", KEYED], stdout=subprocess.PIPE, text=True) as process:
        try:
            root = f"http://127.0.0.1:{first_line(process)}"
            keyed = {"kind": "vllm", "model": "tiny", "key_variable": "SERVER_KEY"}
            assert VllmServers({"small": Model(**keyed, url=f"{root}/v1")}).urls("small") == (f"{root}/v1",)
            with pytest.raises(EndpointDown, match="302"):
                VllmServers({"small": Model(**keyed, url=f"{root}/moved/v1")}).urls("small")
            monkeypatch.setenv("SERVER_KEY", "wrong")
            with pytest.raises(EndpointDown, match=r"401.*key_variable"):
                VllmServers({"small": Model(**keyed, url=f"{root}/v1")}).urls("small")
        finally:
            process.kill()


def test_home_that_cannot_be_written_is_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with (
        servers_of(tmp_path / "home", fake_vllm(tmp_path / "fake")) as servers,
        pytest.raises(BadSettings, match=r"cannot write .*home"),
    ):
        servers.urls("small")


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
    with closing(VllmServers({"small": Model(kind="vllm", model=model, url=url)})) as servers:
        async with OpenAIChat(*servers.urls("small"), model, "tiny", concurrency=4) as chat:
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
def test_memflow_starts_two_replicas_of_vllm_that_two_processes_share(tmp_path: Path) -> None:
    program, model = os.environ.get("MEMFLOW_VLLM_EXECUTABLE"), os.environ.get("MEMFLOW_VLLM_MODEL", "")
    if not program or not Path(model).is_dir():
        pytest.skip(
            "MEMFLOW_VLLM_EXECUTABLE and MEMFLOW_VLLM_MODEL name no vllm program and folder of weights"
        )
    settings = {"model": model, "replicas": 2, "max_model_len": 4096, "arguments": ("--enforce-eager",)}
    home = tmp_path / "home"
    with servers_of(home, program, **settings) as first, servers_of(home, program, **settings) as second:
        urls = first.urls("small")
        assert second.urls("small") == urls and len(set(urls)) == 2
        facts = first.facts()["small"]
        assert facts["vllm"] and facts["max_model_len"] == [4096, 4096]
        pids = [each["pid"] for each in state_of(home)["replicas"]]  # type: ignore[attr-defined]
    assert [Path(f"/proc/{pid}").exists() for pid in pids] == [False, False]
