"""The package memflow-memory-server: the loop, its errors and its transports. The adapters are in the other modules."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from memory_server_lines import SERVERS, JsonLines, message, started

SERVER = """
import os, subprocess, sys, threading
from memflow_memory_server import Failed, MemoryServer, item, run
from memflow_memory_server.transports import parser

print("printed while importing")
FOUND = threading.Event()

class Server(MemoryServer):
    name, workers = "list", 2

    def __init__(self, options):
        self.options, self.spaces = options, {}

    def can(self):
        return {"export": self.options.export, "sources": "message"}

    def settings(self):
        return {"export": self.options.export}

    def reset(self, space):
        self.spaces[space] = []

    def write(self, space, number, messages):
        for message in messages:
            match message.text:
                case "print":
                    print("from Python")
                    os.write(1, b"from C\\n")
                    subprocess.run(["echo", "from a subprocess"])
                case "raise":
                    raise ValueError("the key is " + os.environ["SERVICE_KEY"])
                case "unreachable":
                    raise ConnectionError("gone")
                case "fail":
                    return [{"why": "too long", "sources": [message.id]}]
                case "wait":
                    assert FOUND.wait(10)
                case "set":
                    FOUND.set()
            self.spaces[space].append(message)

    def read(self, space, query, k, asked_at, as_of):
        if query == "unreachable":
            raise ConnectionError("gone")
        if query == "library":
            raise NotImplementedError("the library has no search")
        if query == "nan":
            return [item("x", "x", score=float("nan"))]
        if query == "object":
            return [{"id": object()}]
        if query == "long":
            return [item("x", "x" * (17 * 2**20))]
        if query == "notes":
            return "only a text"
        return [item(each.id, each.text, sources=[each.id]) for each in self.spaces[space]]

    def shutdown(self):
        print("shut down", file=sys.stderr)
        open(self.options.ended, "w").close()

line = parser("A test server.")
line.add_argument("--export", default="none")
line.add_argument("--ended")
options = line.parse_args()
run(Server(options), options)
"""


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    path = tmp_path / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    return [sys.executable, str(path), "--ended", str(tmp_path / "ended")]


@pytest.fixture
def server(script: list[str]) -> Iterator[JsonLines]:
    with started(script, variables={"SERVICE_KEY": "sk-1234567890"}) as lines:
        yield lines


def test_package_has_no_dependencies_and_is_small() -> None:
    package = SERVERS / "base"
    assert "dependencies = []" in (package / "pyproject.toml").read_text(encoding="utf-8")
    code = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    imported = {
        line.split()[1].split(".")[0] for line in code.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= {*sys.stdlib_module_names, "memflow_memory_server"}


def test_prints_of_python_c_and_subprocesses_do_not_reach_the_protocol(server: JsonLines) -> None:
    server.hello()
    server.succeed("reset", space="a")
    assert server.write("a", 1, message("m1", "print"))["failures"] == []
    assert [each["sources"] for each in server.read("a", "x")] == [["m1"]]


def test_errors_are_answers_and_the_server_survives(server: JsonLines) -> None:
    server.hello()
    server.succeed("reset", space="a")
    assert server.fail("nonsense", space="a")["code"] == "unknown_op"
    assert server.fail("read", space="a") == {
        "code": "bad_request",
        "message": "the request 'read' lacks 'query'",
        "again": False,
    }
    assert server.fail("read", query="x")["code"] == "bad_request"
    assert server.fail("read", space=7, query="x")["code"] == "bad_request"
    assert server.fail("fork", space="a", to="b")["code"] == "unsupported"
    assert server.fail("hello", protocol=2)["code"] == "protocol"
    assert server.fail("hello", settings={"unknown": 1})["code"] == "settings"
    assert server.fail("read", space="missing", query="x")["code"] == "failed"
    of_library = server.fail("read", space="a", query="library")
    assert of_library["code"] == "failed" and "the library has no search" in str(of_library["message"])
    assert server.fail("read", space="a", query="unreachable")["again"] is True
    assert server.fail("write", space="a", write=1, messages=[message("m", "unreachable")])["again"] is False
    for line in (b"no JSON", b"[1, 2]", b"{", b'"text"', b"\xff\xfe", b"[" * 100_000):
        server.send_line(line)
        answer = server.receive()
        assert answer["n"] is None and answer["error"]["code"] == "bad_request"
    assert server.write("a", 1, message("m1", "fail"))["failures"] == [{"why": "too long", "sources": ["m1"]}]
    assert server.read("a", "x") == []


def test_error_does_not_contain_the_value_of_a_secret_variable(server: JsonLines) -> None:
    server.hello()
    server.succeed("reset", space="a")
    error = server.fail("write", space="a", write=1, messages=[message("m1", "raise")])
    assert error == {"code": "failed", "message": "ValueError: the key is <SERVICE_KEY>", "again": False}


@pytest.mark.parametrize("query", ["nan", "object", "long"])
def test_answer_that_is_no_json_or_too_long_is_an_error(server: JsonLines, query: str) -> None:
    server.succeed("reset", space="a")
    number = server.send("read", space="a", query=query)
    answer = server.receive()
    assert answer["n"] == number and answer["error"]["code"] == "bad_answer"
    assert server.read("a", "x") == []


def test_line_that_is_too_long_is_an_error_and_the_next_line_is_read(server: JsonLines) -> None:
    server.send("read", space="a", query="x" * (17 * 2**20))
    assert server.receive()["error"]["code"] == "unknown_op"
    assert server.hello()["name"] == "list"


def test_text_survives_with_emoji_line_breaks_nul_and_line_separators(server: JsonLines) -> None:
    text = 'emoji 🐶 "quotes" \n\r\t\0 \u2028\u2029 \ud7ff ' + "x" * 100_000
    server.succeed("reset", space="a b/ü")
    server.write("a b/ü", 1, message("m/1", text))
    assert server.read("a b/ü", text)[0]["text"] == text


def test_spaces_are_processed_concurrently_and_each_in_order(server: JsonLines) -> None:
    """The first space waits for the second one. The read after the write of the first is answered after it."""
    for space in "ab":
        server.succeed("reset", space=space)
    waiting = server.send("write", space="a", write=1, messages=[message("m1", "wait")])
    after = server.send("read", space="a", query="x")
    setting = server.send("write", space="b", write=1, messages=[message("m2", "set")])
    answers = [server.receive() for _ in range(3)]
    numbers = [answer["n"] for answer in answers]
    assert sorted(numbers) == [waiting, after, setting]
    assert numbers.index(waiting) < numbers.index(after)
    assert [each["id"] for each in answers[numbers.index(after)]["items"]] == ["m1"]


def test_read_can_return_one_text_and_never_more_than_k_items(server: JsonLines) -> None:
    server.succeed("reset", space="a")
    server.write("a", 1, *(message(f"m{n}", "x") for n in range(20)))
    assert len(server.read("a", "x", k=7)) == 7
    assert server.succeed("read", space="a", query="notes", k=7) == {"notes": "only a text"}


def test_declared_capability_without_its_method_is_an_error(script: list[str]) -> None:
    with started([*script, "--export", "live"]) as server:
        assert server.fail("hello", protocol=1)["code"] == "capabilities"


def test_settings_of_hello_replace_options(server: JsonLines) -> None:
    error = server.fail("hello", protocol=1, settings={"export": "history"})
    assert "declares export" in error["message"]
    assert server.hello(settings={"export": "none"})["settings"] == {"export": "none"}


def test_end_of_stdin_answers_open_requests_and_shuts_down(server: JsonLines, tmp_path: Path) -> None:
    server.succeed("reset", space="a")
    sent = [server.send("read", space="a", query="x") for _ in range(50)]
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert [server.receive()["n"] for _ in sent] == sent
    assert server.process.wait(20) == 0 and (tmp_path / "ended").exists()


def test_termination_shuts_down(server: JsonLines, tmp_path: Path) -> None:
    server.hello()
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(20)
    assert (tmp_path / "ended").exists()


def post(url: str, body: bytes, content_type: str = "application/json") -> tuple[int, dict[str, object]]:
    try:
        with urlopen(Request(url, body, {"Content-Type": content_type}), timeout=10) as reply:
            return reply.status, json.loads(reply.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())


def test_http_transport_answers_as_the_lines_do(script: list[str]) -> None:
    with started([*script, "--port", "0"]) as server:
        assert server.process.stdout is not None
        url = server.process.stdout.readline().decode().strip()
        if not url.startswith("http"):  # the test server prints a line before
            url = server.process.stdout.readline().decode().strip()
        assert url.startswith("http://127.0.0.1:")
        status, answer = post(url, json.dumps({"op": "reset", "n": 1, "space": "ü"}).encode())
        assert (status, answer) == (200, {"n": 1})
        sent = {"op": "write", "n": 2, "space": "ü", "write": 1, "messages": [message("m1", "🐶")]}
        assert post(url, json.dumps(sent).encode()) == (200, {"n": 2, "failures": []})
        found = post(url, json.dumps({"op": "read", "n": 3, "space": "ü", "query": "x"}).encode())[1]
        assert [each["text"] for each in found["items"]] == ["🐶"]  # type: ignore[attr-defined]
        assert post(url, b"no JSON")[1]["error"]["code"] == "bad_request"  # type: ignore[index]
        # A page in a browser can send text to a loopback port without consent, but no JSON.
        assert post(url, b"{}", "text/plain")[0] == 400


def test_command_line_help_needs_no_library() -> None:
    for folder in sorted(SERVERS.iterdir()):
        module = folder / f"memflow_server_{folder.name}.py"
        if module.exists():
            path = f"{SERVERS / 'base'}:{folder}"
            shown = subprocess.run(
                [sys.executable, module, "--help"],
                env={"PYTHONPATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
            assert shown.returncode == 0, shown.stderr
            assert "--port" in shown.stdout
