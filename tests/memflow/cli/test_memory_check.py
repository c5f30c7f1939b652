"""`memflow memories check`, and how memory servers are shown by `memories` and `doctor`."""

import json
import shlex
from pathlib import Path

import pytest
from echo_servers import ECHO, echo_command, http_echo

SETTINGS = f"""
[memories.echo]
command = ["python3", "{ECHO}"]
settings = {{ grain = "turn" }}
revision = "image 7"

[memories.leaking]
command = ["python3", "{ECHO}", "--fault", "leaks"]

[memories.missing]
command = ["python3", "no/server.py"]

[memories.down]
url = "http://127.0.0.1:9"
"""
SHARED = '''
"""A memory with a list that its instances share."""
from memflow.memories.memory import Memory, Recall

TEXTS = []


class Shared(Memory):
    """Keeps texts in a module."""

    async def write(self, messages):
        TEXTS.extend(message.text for message in messages)

    async def read(self, query, frozen=True):
        return Recall("\\n".join(TEXTS))
'''


@pytest.fixture
def _settings() -> None:
    Path("memflow.toml").write_text(SETTINGS, encoding="utf-8")


@pytest.mark.usefixtures("_settings")
def test_check_of_a_server_of_the_settings_prints_a_line_per_check(empty) -> None:
    result = empty("memories", "check", "echo")
    assert result.exit_code == 0, result.output
    lines = dict(line.split()[:2] for line in result.stdout.splitlines() if len(line.split()) > 2)
    assert {"start", "indexed", "spaces", "as_of", "sources", "restart"} <= lines.keys()
    assert "wrong" not in lines.values()


@pytest.mark.usefixtures("_settings")
def test_check_exits_with_1_and_names_what_to_do(empty) -> None:
    result = empty("memories", "check", "leaking", "--format", "json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert (answer["memory"], answer["ok"]) == ("leaking", False)
    [line] = [line for line in answer["lines"] if line["check"] == "spaces"]
    found, fix = line.pop("found"), line.pop("fix")
    assert fix.startswith("Filter reads by `space`")
    assert line == {"check": "spaces", "verdict": "wrong"}
    assert "finds 'zeppelin', which was written only to check-" in found


def test_check_of_a_command_or_address_needs_no_settings(empty) -> None:
    words = empty("memories", "check", "--format", "json", "--", *echo_command())
    text = empty("memories", "check", shlex.join(echo_command("leftovers")), "--format", "json")
    assert (words.exit_code, text.exit_code) == (0, 1)
    [line] = [line for line in json.loads(text.stdout)["lines"] if line["check"] == "reset"]
    assert line["verdict"] == "wrong"
    with http_echo("no_sources") as (url, _):
        lines = json.loads(empty("memories", "check", url, "--format", "json").stdout)["lines"]
    assert [line["check"] for line in lines if line["verdict"] == "wrong"] == ["sources"]


@pytest.mark.usefixtures("_settings")
def test_check_of_a_bad_command_is_one_sentence_that_names_the_line(empty) -> None:
    error = empty.error("memories", "check", "missing")
    assert error.strip().endswith("no/server.py. Fix `command` of [memories.missing].")
    error = empty.error("memories", "check", "no-such-program here")
    assert "cannot find the program 'no-such-program' on PATH. Fix the command." in error


def test_check_of_a_python_memory_finds_state_outside_its_store(
    empty, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("shared_memory.py").write_text(SHARED, encoding="utf-8")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    result = empty("memories", "check", "shared_memory:Shared", "--format", "json")
    assert result.exit_code == 1, result.output
    wrong = {line["check"]: line for line in json.loads(result.stdout)["lines"] if line["verdict"] == "wrong"}
    assert "use a memory server" in wrong["spaces"]["fix"]


@pytest.mark.parametrize("name", ["bm25_message", "rag_2_4_30", "mem0", "memory_bank"])
def test_check_of_a_shipped_memory_has_no_wrong_line(empty, name: str) -> None:
    result = empty("memories", "check", name, "--format", "json")
    assert [line for line in json.loads(result.stdout)["lines"] if line["verdict"] == "wrong"] == []


def test_check_of_a_memory_without_writes_and_of_an_unknown_one_is_refused(empty) -> None:
    assert "nothing is written to the memory oracle" in empty.error("memories", "check", "oracle")
    assert "Did you mean bm25" in empty.error("memories", "check", "bm52_message")


@pytest.mark.usefixtures("_settings")
def test_memories_command_shows_servers_with_their_last_hello(empty) -> None:
    assert "not started yet" in empty("memories", "echo").stdout
    empty("memories", "check", "echo")
    row = {row["memory"]: row for row in empty.json("memories")}["echo"]
    assert (row["server"]["hello"]["name"], row["server"]["revision"]) == ("echo", "image 7")
    shown = empty("memories", "list", "echo").stdout
    assert "capabilities: as_of writes, fork yes" in shown
    assert "settings: grain turn" in shown


@pytest.mark.usefixtures("_settings")
def test_doctor_reports_servers_that_cannot_be_started_or_reached(empty) -> None:
    rows = {row["what"]: row for row in empty.json("doctor")}
    assert rows["memory echo"]["state"] == "ok"
    assert (rows["memory missing"]["state"], rows["memory down"]["state"]) == ("absent", "absent")
    assert "no/server.py" in rows["memory missing"]["found"]
    assert "cannot be reached at http://127.0.0.1:9" in rows["memory down"]["found"]
    assert "memflow memories check down" in rows["memory down"]["fix"]
