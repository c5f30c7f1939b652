"""Every command block of the tutorial runs in the order of the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(bash|python)(?: title=\"([\w.]+)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)


def last_command(target: str) -> str:
    """Return the last command of a Makefile target, with `memflow` from the search path."""
    # Without the flags of a `make test-rest` around it, which prints the folders that it enters.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    recipe = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
    return recipe.strip().splitlines()[-1].replace(".venv/bin/", "")


@pytest.mark.pipeline
def test_every_command_block_of_the_tutorial_runs(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "memflow"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memflow.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{programs}:{clean_environment['PATH']}"
    environment = {**clean_environment, "PYTHONPATH": str(ROOT), "PATH": path}
    shown = {}
    for language, file, block in BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")):
        if language == "python":
            (tmp_path / file).write_text(block, encoding="utf-8")
            continue
        script = re.sub(r"^make (\w+)$", lambda match: last_command(match[1]), block, flags=re.MULTILINE)
        ran = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{block}\n{ran.stdout}\n{ran.stderr}"
        shown[block] = ran.stdout
    last = list(shown.values())[-1]
    assert "last_words" in last, "the tutorial's own memory is on the leaderboard"
    assert re.search(r"\b0 failed", "".join(shown.values()))
