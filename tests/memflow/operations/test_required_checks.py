"""The check of memory servers that `memflow run` requires, its plan, and memory servers given by an address."""

from pathlib import Path

import pytest
from echo_servers import ECHO, http_echo

from memflow.errors import BadSettings
from memflow.operations.front import Front
from memflow.operations.required_checks import run_required_checks, skip_checks, unchecked
from memflow.operations.selection import Selection, select
from memflow.resources.memory_servers.declaration import has_passed, read_hello

SERVER = """
import runpy, sys
sys.argv = ["echo.py", *FAULTS]
runpy.run_path(ECHO, run_name="__main__")
"""
SETTINGS = """
[memories.mine]
command = ["python3", "server.py"]
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a memory server."""
    monkeypatch.chdir(tmp_path)
    Path("memflow.toml").write_text(SETTINGS, encoding="utf-8")
    write_server()


def write_server(*faults: str) -> None:
    words = [f"--fault={fault}" for fault in faults]
    Path("server.py").write_text(f"ECHO, FAULTS = {ECHO!r}, {words}\n{SERVER}", encoding="utf-8")


def selected(memory: str = "mine") -> Selection:
    """Return the selection of a run."""
    front = Front(home=Path("home").absolute())
    return select(front, domains=["amemgym_demo"], memories=[memory], baselines=False)


def test_run_refuses_a_server_with_a_fault_before_it_generates_anything(empty) -> None:
    write_server("no_time_travel")
    error = empty.error("run", "--domain", "amemgym_demo", "--memory", "mine", "--no-baselines")
    assert "the memory server mine is not measured, because its check found a fault" in error
    assert (
        "as_of: 15 of 15 reads as of an earlier write return later messages, so the memory knows the" in error
    )
    assert "Filter by the number of the write" in error
    assert not (empty.folder / "lake" / "state").exists()


def test_passed_check_holds_until_the_program_changes(capsys: pytest.CaptureFixture[str]) -> None:
    def checked() -> bool:
        run_required_checks(selected(), False, None)
        return "checking the memory server mine" in " ".join(capsys.readouterr().err.split())

    assert checked() and not checked()
    with Path("server.py").open("a", encoding="utf-8") as program:
        program.write("# another program\n")
    assert checked()


def test_checks_can_be_skipped_and_the_summary_names_the_server() -> None:
    write_server("no_time_travel")
    selection = selected()
    settings = skip_checks(selection.settings)
    run_required_checks(Selection(settings, selection.domains, selection.assistants), False, None)
    assert unchecked(settings, selection.assistants) == ["mine"]
    assert unchecked(selection.settings, selection.assistants) == []


def test_address_of_a_server_names_a_memory_in_check_and_run(empty) -> None:
    with http_echo() as (url, _):
        name = "server_" + url.removeprefix("http://").replace(".", "_").replace(":", "_")
        selection = selected(url)
        assert selection.assistants == (name,)
        assert selection.settings.memories[name].url == url
        assert empty("memories", "check", url).exit_code == 0


def test_server_at_an_address_that_is_down_is_one_sentence() -> None:
    with pytest.raises(Exception, match=r"cannot be reached at http://127\.0\.0\.1:9"):
        run_required_checks(selected("http://127.0.0.1:9"), False, None)


def test_check_of_an_address_holds_for_a_day_and_for_name_and_version(
    empty, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_echo() as (url, _):
        assert empty("memories", "check", url).exit_code == 0
        front = Front(home=empty.folder)
        selection = select(front, domains=["amemgym_demo"], memories=[url], baselines=False)
        [(name, own)] = [(name, own) for name, own in selection.settings.memories.items() if own.url]
        hello = read_hello(name, empty.folder)
        assert hello is not None
        assert has_passed(name, own, empty.folder, hello)
        assert not has_passed(name, own, empty.folder, hello.model_copy(update={"version": "2"}))
        changed = own.model_copy(update={"settings": {"grain": "turn"}})
        assert not has_passed(name, changed, empty.folder, hello)
        monkeypatch.setattr("memflow.resources.memory_servers.declaration.HOURS_OF_ADDRESS", 0)
        assert not has_passed(name, own, empty.folder, hello)


def test_failed_check_is_no_passed_one(empty) -> None:
    write_server("no_time_travel")
    assert empty("memories", "check", "mine").exit_code == 1
    with pytest.raises(BadSettings, match="the memory knows the future"):
        run_required_checks(selected(), False, None)
