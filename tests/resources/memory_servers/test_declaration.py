"""Memory servers in memflow.toml: invalid declarations, paths, fingerprints, and the last answer to `hello`."""

import shutil
import traceback
from pathlib import Path
from typing import Any

import pytest
from echo_servers import ECHO

from memflow.errors import BadSettings, ServerFailed
from memflow.memories.server.protocol import Capabilities, Hello
from memflow.resources.memory_servers.declaration import (
    check_command,
    open_server,
    read_hello,
    write_hello,
)
from memflow.resources.settings.settings import Settings, load


@pytest.fixture(autouse=True)
def _empty_working_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def settings_with(lines: str, folder: Path = Path()) -> Settings:
    """Return the settings of a file with one memory server."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "memflow.toml"
    file.write_text(f"[memories.mine]\n{lines}\n", encoding="utf-8")
    return load(file)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('command = "python server.py"', r'a list of words: command = \["python", "server.py"\]'),
        ('command = ["python"]\nurl = "http://a"', "has `command` and `url`"),
        ('command = [" "]', "begins with an empty word"),
        ('url = "http://user:word@host"', "contains a user or password"),
        ('url = "http://host"\nvariables = ["KEY"]', r'`variables` \(\["KEY"\]\) has no effect beside `url`'),
        ('command = ["x"]\nkey_variable = "KEY"', r'`key_variable` \("KEY"\) has no effect beside `command`'),
        ('path = "a:B"\nk = 3', r"`k` \(3\) belongs to a memory server, and this memory has `path`"),
        ('command = ["x"]\ntimeout = { reed = 1 }', "there is no setting 'reed'. Did you mean read"),
        ('command = ["x"]\ntimeout = 0', "greater than 0"),
        ('command = ["x"]\nk = 0', "greater than or equal to 1"),
        ('command = ["x"]\nsettings = { llm = { api_key = "sk-1" } }', "name 'api_key' of a secret"),
    ],
)
def test_invalid_memory_server_is_rejected_with_its_setting(lines: str, message: str) -> None:
    with pytest.raises(BadSettings, match=f"memflow.toml: memories.mine.*{message}"):
        settings_with(lines)


def test_secret_of_a_memory_server_is_not_in_the_error() -> None:
    with pytest.raises(BadSettings) as wrong:
        settings_with('command = ["x"]\nsettings = { api_key = "sk-very-secret" }')
    assert "sk-very-secret" not in str(wrong.value)


def test_unknown_mode_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(BadSettings, match=r"mode has the invalid value 'later'. Use auto, as_of"):
        settings_with('command = ["x"]\nmode = "later"').memory_of("mine")


def test_mode_k_and_budget_are_parameters_of_the_memory() -> None:
    memory = settings_with('command = ["x"]\nmode = "restore"\nk = 3\nbudget = 500').memory_of("mine")
    assert memory.values == {"k": 3, "budget": 500, "mode": "restore"}


@pytest.mark.parametrize(
    ("timeout", "limits"),
    [("timeout = 5", (5, 5, 5)), ("timeout = { read = 7 }", (30, 7, 600)), ("", (30, 60, 600))],
)
def test_timeout_is_a_number_or_a_table(timeout: str, limits: tuple[float, float, float]) -> None:
    found = settings_with(f'command = ["x"]\n{timeout}').memories["mine"].timeout
    assert (found.hello, found.read, found.write) == limits


async def test_paths_of_a_command_are_relative_to_the_settings_file(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    settings = settings_with('command = ["python3", "servers/server.py"]', folder)
    (folder / "servers").mkdir()
    shutil.copy(ECHO, folder / "servers" / "server.py")
    server = open_server("mine", settings.memories["mine"], tmp_path / "home")
    try:
        assert (await server.hello()).name == "echo"
    finally:
        await server.stop()
    assert (tmp_path / "home/memory_servers/logs/mine.log").is_file()


def test_missing_script_is_one_sentence_that_names_the_setting(tmp_path: Path) -> None:
    own = settings_with('command = ["python3", "server.py"]').memories["mine"]
    wanted = f"cannot find the file {tmp_path}/server.py. Fix `command` of [memories.mine]."
    with pytest.raises(BadSettings) as wrong:
        check_command("mine", own)
    assert str(wrong.value) == wanted


HELLO = Hello(name="x", version="1", can=Capabilities(fork=True))
CHANGES: dict[str, Any] = {
    "command": 'command = ["python3", "-u", "server.py"]',
    "settings": 'command = ["python3", "server.py"]\nsettings = { grain = "turn" }',
    "revision": 'command = ["python3", "server.py"]\nrevision = "2"',
    "k": 'command = ["python3", "server.py"]\nk = 3',
}


@pytest.mark.parametrize("change", CHANGES)
def test_fingerprint_changes_with_the_declaration(change: str) -> None:
    first = settings_with('command = ["python3", "server.py"]').memory_of("mine").fingerprint()
    assert settings_with(CHANGES[change]).memory_of("mine").fingerprint() != first


def test_fingerprint_changes_with_the_answer_to_hello_and_the_script() -> None:
    settings = settings_with('command = ["python3", "server.py"]\ntimeout = 5')
    fingerprints = [settings.memory_of("mine").fingerprint()]
    for version in ("1", "2"):
        write_hello("mine", settings.home, HELLO.model_copy(update={"version": version}))
        fingerprints.append(settings.memory_of("mine").fingerprint())
    for code in ("pass", "pass  # changed"):
        Path("server.py").write_text(code, encoding="utf-8")
        fingerprints.append(settings.memory_of("mine").fingerprint())
    assert len(set(fingerprints)) == 5


def test_fingerprint_ignores_time_limits_and_allowed_variables() -> None:
    first = settings_with('command = ["x"]').memory_of("mine").fingerprint()
    other = settings_with('command = ["x"]\ntimeout = 5\nvariables = ["KEY"]').memory_of("mine").fingerprint()
    assert first == other


def test_answer_to_hello_is_stored_and_a_damaged_file_is_ignored(tmp_path: Path) -> None:
    assert read_hello("mine", tmp_path) is None
    write_hello("mine", tmp_path, HELLO)
    assert read_hello("mine", tmp_path) == HELLO
    [file] = (tmp_path / "memory_servers").iterdir()
    file.write_text('{"name": ', encoding="utf-8")
    assert read_hello("mine", tmp_path) is None


TELLS = """
import json, os, sys
key = os.environ["MEMORY_SERVICE_KEY"] + " " + os.environ["FLAG"]
for line in sys.stdin:
    request = json.loads(line)
    answer = {"name": "x", "version": "1", "endpoint": request.get("endpoints")}
    match request["op"]:
        case "write" if request["write"] == 1:
            answer = {"failures": [{"why": "rejected " + key}]}
        case "write":
            sys.exit("ended with " + key)
        case "read":
            answer = {"error": {"code": key, "message": "invalid key " + key}}
        case "export":
            answer = key
    print(json.dumps({"n": request["n"], **answer}) if isinstance(answer, dict) else answer, flush=True)
"""


async def test_messages_of_errors_do_not_contain_the_values_of_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_SERVICE_KEY", "sk-service-of-mine")
    monkeypatch.setenv("FLAG", "true")
    (tmp_path / "server.py").write_text(TELLS, encoding="utf-8")
    lines = 'command = ["python3", "server.py"]\nvariables = ["MEMORY_SERVICE_KEY", "FLAG"]'
    server = open_server("mine", settings_with(lines).memories["mine"], tmp_path / "home")
    await server.reset("a")
    told = [(await server.write("a", 1, [])).failures[0].why]
    for work in (server.write("a", 2, []), server.read("a", "", 1), server.export("a")):
        with pytest.raises(ServerFailed) as failed:
            await work
        told += ["".join(traceback.format_exception(failed.value)), server.last_stop]
    await server.stop()
    assert "sk-service" not in "".join(told)
    assert sum("<MEMORY_SERVICE_KEY> true" in text for text in told) >= 4
