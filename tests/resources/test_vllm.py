"""vLLM servers: an existing server is used; a started server ends with its subprocesses."""

import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.errors import BadSettings, EndpointDown
from resources.endpoints.chat import OpenAIChat
from resources.stub import stub_process
from resources.vllm import Adapter, VllmServer

FAKE = """\
#!/bin/sh
# A `vllm` whose server is the stub, run as a worker of its own as vLLM's are.
echo "$@" > {folder}/arguments
while [ $# -gt 0 ]; do [ "$1" = --port ] && port=$2; shift; done
{python} -m resources.stub --port $port --model tiny &
echo $! > {folder}/worker
wait
"""


def fake(folder: Path, script: str = FAKE) -> str:
    program = folder / "vllm"
    program.write_text(script.format(folder=folder, python=sys.executable))
    program.chmod(0o755)
    return str(program)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat").read_text()
    return f"{process} (python" in state and state.rpartition(")")[2].split()[0] != "Z"


def test_vllm_server_is_stopped_with_its_worker_processes(tmp_path: Path) -> None:
    with VllmServer("tiny", executable=fake(tmp_path), arguments=("--max-model-len", "8192")) as url:
        worker = int((tmp_path / "worker").read_text())
        assert is_alive(worker)
        with urllib.request.urlopen(url + "/models", timeout=5) as response:
            assert response.status == 200
    time.sleep(0.1)
    assert not is_alive(worker)
    arguments = (tmp_path / "arguments").read_text()
    assert arguments.startswith("serve tiny --host 127.0.0.1 --port ")
    assert '"backend":"guidance","disable_any_whitespace":true' in arguments
    assert arguments.rstrip().endswith("--max-model-len 8192")


def test_vllm_server_serves_an_adapter_by_the_name_of_its_folder(tmp_path: Path) -> None:
    program = fake(tmp_path, FAKE.replace("--model tiny", "--model liked"))
    adapter = Adapter(tmp_path / "liked", 12)
    with VllmServer("tiny", executable=program, adapter=adapter, arguments=("--max-model-len", "8192")):
        pass
    arguments = (tmp_path / "arguments").read_text()
    assert arguments.startswith("serve tiny --host 127.0.0.1 --port ")
    wanted = f"--enable-lora --max-lora-rank 16 --lora-modules liked={tmp_path}/liked --max-model-len 8192"
    assert arguments.rstrip().endswith(wanted)
    with pytest.raises(EndpointDown, match="serves tiny, but not 'liked'"):
        VllmServer("tiny", executable=fake(tmp_path), adapter=adapter).__enter__()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adapter": Adapter(Path("liked"), 513)}, "has rank 513, but vLLM supports at most 512"),
        ({}, r"cannot run .*memflow\.toml"),
    ],
)
def test_vllm_server_rejects_wrong_settings_before_start(options: dict[str, Adapter], message: str) -> None:
    with pytest.raises(BadSettings, match=message):
        VllmServer("tiny", executable="no-such-vllm", **options).__enter__()


@pytest.mark.parametrize(("model", "raised"), [("tiny", ZeroDivisionError), ("other", EndpointDown)])
def test_vllm_server_is_stopped_after_an_error(tmp_path: Path, model: str, raised: type[Exception]) -> None:
    with (
        pytest.raises(raised, match=r"division|serves tiny, but not 'other'"),
        VllmServer(model, executable=fake(tmp_path)),
    ):
        raise ZeroDivisionError("division by zero")
    time.sleep(0.1)
    assert not is_alive(int((tmp_path / "worker").read_text()))


def test_vllm_server_that_exits_early_raises_an_error_with_its_log(tmp_path: Path) -> None:
    program = fake(tmp_path, "#!/bin/sh\necho no such weights; exit 3\n")
    with pytest.raises(EndpointDown, match=r"(?s)exited with status 3.*no such weights"):
        VllmServer("tiny", executable=program).__enter__()


def test_vllm_server_that_is_never_ready_raises_an_error_after_the_timeout(tmp_path: Path) -> None:
    program = fake(tmp_path, "#!/bin/sh\necho loading; exec sleep 60\n")
    started = time.monotonic()
    with pytest.raises(EndpointDown, match=r"(?s)not ready after 0.3 s.*loading"):
        VllmServer("tiny", executable=program, patience=0.3).__enter__()
    assert time.monotonic() - started < 5


def test_vllm_server_with_url_uses_the_running_server() -> None:
    with stub_process(model="tiny") as url:
        with VllmServer("tiny", url=url) as given:
            assert given == url
        with pytest.raises(EndpointDown, match="serves tiny, but not 'other'"):
            VllmServer("other", url=url).__enter__()
    with pytest.raises(EndpointDown, match="cannot connect"):
        VllmServer("tiny", url=url).__enter__()


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
    with VllmServer(model, url=url):
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
