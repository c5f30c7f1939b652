"""The checks of memory servers: each fault of the echo server is found, by which line, and examples have none."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from echo import CAN
from echo_servers import ANSWERS, connect, echo_command, http_connection, http_echo

from memflow.resources.memory_servers.check_lines import CheckLine
from memflow.resources.memory_servers.server_checks import check_server
from memflow.resources.settings.own_sections import ServerTimeLimits

ROOT = Path(__file__).parents[3]
LIMITS = ServerTimeLimits(hello=20, read=2, write=2)
SHORT = ServerTimeLimits(hello=20, read=2, write=0.4)
FOUND = {
    "crash=30": ("stops", "wrong", "ended with status 3"),
    "crash_on=xylophone": ("write", "wrong", "ended with status 3"),
    "hang=1": ("write", "wrong", "did not answer write within its time limit"),
    "hang_on=xylophone": ("write", "wrong", "did not answer write within its time limit"),
    "stray": ("write", "wrong", "text that is not JSON: 'Batches"),
    "order": ("isolation", "ok", "concurrent reads"),
    "wrong_n": ("read", "wrong", "that is not open"),
    "random_ids": ("stable_reads", "wrong", "have no item id in common (first: '"),
    "leaks": ("spaces", "wrong", "/spaces-2"),
    "leftovers": ("reset", "wrong", "a read still finds"),
    "read_writes": ("pure_reads", "wrong", "reads write"),
    "no_export": ("export", "wrong", "not_supported"),
    "no_fork": ("fork", "wrong", "differs from a read of its origin"),
    "no_restore": ("restore", "wrong", "a restored space differs from a read of its origin"),
    "shared_fork": ("fork", "wrong", "returns 'walrus', which was written only to"),
    "unstable": ("start", "wrong", "`version` was '1."),
    "not_deterministic": ("stable_reads", "wrong", "equal reads return other items"),
    "huge": ("read", "wrong", "a line longer than 16,777,216 bytes"),
    "too_many": ("read", "wrong", "although k is 1"),
    "error": ("write", "wrong", "the disk is full"),
}
"""The line that finds a fault, its verdict, and a part of what it says. Others are in test_planted_faults.py."""
UNDECLARED: dict[str, Any] = {
    "as_of": "none",
    "fork": False,
    "restore": False,
    "export": "none",
    "sources": "none",
    "deterministic": False,
}
EXAMPLES = {"python": ["python3", "server.py"], "node": ["node", "server.mjs"]}
NEWEST = """
spaces = {}
def answer(request):
    space = request.get("space")
    match request["op"]:
        case "reset":
            spaces[space] = []
        case "write":
            spaces[space] = request["messages"][::-1] + spaces[space]
        case "read":
            return {"items": [{"id": each["id"], "text": each["text"]} for each in spaces[space][: request["k"]]]}
    return {}
serve(answer)
"""


async def lines_of(folder: Path, words: list[str], limits: ServerTimeLimits = LIMITS) -> dict[str, CheckLine]:
    """Return the lines of a command by name."""
    lines, _ = await check_server(lambda: connect(words, folder, limits=limits), sizes=(60, 20))
    return {line.check: line for line in lines}


@pytest.mark.parametrize("fault", FOUND)
async def test_fault_is_found_by_its_line(tmp_path: Path, fault: str) -> None:
    name, verdict, part = FOUND[fault]
    limits = SHORT if fault.startswith(("hang", "slow")) else LIMITS
    lines = await lines_of(tmp_path, echo_command(fault), limits)
    assert (lines[name].verdict, part in lines[name].found) == (verdict, True), lines[name].found
    assert lines[name].fix or verdict == "ok"


async def test_echo_server_without_a_fault_has_no_wrong_line(tmp_path: Path) -> None:
    lines = await lines_of(tmp_path, echo_command())
    assert {name for name, line in lines.items() if line.verdict != "ok"} == {"forget"}


async def test_capability_that_is_not_declared_is_skipped(tmp_path: Path) -> None:
    lines = await lines_of(tmp_path, echo_command("no_fork", "no_restore", "no_time_travel", can=UNDECLARED))
    skipped = {name for name, line in lines.items() if line.verdict == "skipped"}
    assert skipped == {*UNDECLARED, "forget"} and set(UNDECLARED) <= set(CAN)
    assert [name for name, line in lines.items() if line.verdict == "wrong"] == []


async def test_reads_that_write_are_no_fault_if_they_are_declared(tmp_path: Path) -> None:
    can = {"pure_reads": False, "deterministic": False}
    lines = await lines_of(tmp_path, echo_command("read_writes", can=can))
    assert lines["pure_reads"].verdict == "note"


async def test_line_after_a_failed_start_is_skipped(tmp_path: Path) -> None:
    lines = await lines_of(tmp_path, ["python3", "-c", "print('Loading')"])
    assert lines["start"].verdict == "wrong"
    assert {line.verdict for name, line in lines.items() if name != "start"} == {"skipped"}


async def test_server_that_returns_the_newest_messages_has_no_wrong_line(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(ANSWERS + NEWEST, encoding="utf-8")
    lines = await lines_of(tmp_path, [sys.executable, "server.py"])
    assert {name for name, line in lines.items() if line.verdict == "wrong"} == set()


async def test_server_over_http_is_checked_like_one_over_stdio() -> None:
    with http_echo() as (url, _):
        found, _ = await check_server(lambda: http_connection(url), sizes=(60, 20))
    lines = {line.check: line for line in found}
    assert {name for name, line in lines.items() if line.verdict == "wrong"} == set()
    assert lines["restart"].verdict == "skipped"


@pytest.mark.parametrize("name", EXAMPLES)
async def test_example_server_has_no_wrong_line(tmp_path: Path, name: str) -> None:
    if shutil.which(EXAMPLES[name][0]) is None:
        pytest.skip(f"{EXAMPLES[name][0]} is not installed")
    folder = tmp_path / "example"
    shutil.copytree(ROOT / "examples" / f"memory_server_{name}", folder)
    lines = await lines_of(folder, EXAMPLES[name])
    assert {name for name, line in lines.items() if line.verdict not in ("ok", "skipped")} == set()
