"""Every command block of the tutorial runs in the order of the page."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(bash|python|json)(?: title=\"([\w.]+)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run_blocks(page: str, folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """Run the blocks of a page in a folder, and return the output of each block of commands."""
    programs = folder / "bin"
    programs.mkdir()
    for name, arguments in (("memflow", "-m memflow.cli"), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    path = f"{programs}:{environment['PATH']}"
    environment = {**environment, "PYTHONPATH": str(ROOT), "PATH": path}
    shown = {}
    for language, file, block in BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8")):
        if language != "bash":
            (folder / file).write_text(block, encoding="utf-8")
            continue
        ran = subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{block}\n{ran.stdout}\n{ran.stderr}"
        shown[block] = ran.stdout
    return shown


@pytest.mark.pipeline
def test_every_command_block_of_the_tutorial_runs(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    outputs = list(run_blocks("tutorial.md", tmp_path, clean_environment).values())
    text = "".join(outputs)
    assert "last_words" in outputs[4], "the tutorial's own memory is on the leaderboard"
    checked, settings, *_ = outputs[6:]
    assert "20 dialogues, 196 messages, 60 questions" in checked
    # The page quotes this message.
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    [problem] = re.findall(r"^    (first\.jsonl, .+)$", page, re.MULTILINE)
    assert problem in checked and "1 problem;" in checked
    assert len(settings.splitlines()) == 5 and "with the domain mine" in settings
    assert len(re.findall(r"\b0 failed", text)) >= 2, "both parts of the page"
    assert re.search(r"answer_score .*changed", text, re.DOTALL), "a slice of the field `type`"
    assert (tmp_path / "results/index.html").is_file()


def test_example_of_a_memory_server_passes_every_check(
    clean_environment: dict[str, str], tmp_path: Path
) -> None:
    page = (ROOT / "docs/how-to/memory_server.md").read_text(encoding="utf-8")
    [code] = [block for _, file, block in BLOCK.findall(page) if file == "server.py"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "server.py").write_text(code.replace("9000", str(port)), encoding="utf-8")
    with subprocess.Popen([sys.executable, "server.py"], cwd=tmp_path, stderr=subprocess.DEVNULL) as server:
        command = [sys.executable, "-m", "memflow.cli", "memories", "check", f"http://127.0.0.1:{port}"]
        try:
            checked = subprocess.run(
                command, cwd=tmp_path, env=clean_environment, text=True, capture_output=True, check=False
            )
        finally:
            server.terminate()
    assert checked.returncode == 0, checked.stdout
