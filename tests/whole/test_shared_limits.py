"""Two commands share a budget and the concurrency of a model through one ledger."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from stub import stub_process

from resources.process import default_signals

pytestmark = pytest.mark.pipeline

SETTINGS = """
home = "{home}"
[models.m]
url = "{url}"
model = "stub"
total_concurrency = 6
[roles]
simulator = "m"
judge = "m"
assistant = "m"
[budget]
name = "both"
calls = {calls}
"""


def run(settings: Path, memory: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    arguments = ("--domain", "amemgym_base~6", "--memory", memory)
    return subprocess.Popen(
        [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "run", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals(),  # noqa: PLW1509  (None unless signals are ignored)
    )


def budget_use(settings: Path, environment: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "budget", "list"]
    shown = subprocess.run([*command, "--format", "json"], env=environment, capture_output=True, check=True)
    (budget,) = json.loads(shown.stdout)["budgets"]
    spent: dict[str, float] = {part: budget[part]["calls"] for part in ("spent", "leased", "lost")}
    return spent


def test_two_commands_share_a_budget_and_a_total_concurrency(
    tmp_path: Path, clean_environment: dict[str, str], published_users: Callable[..., Path]
) -> None:
    environment = {**clean_environment, "MEMFLOW_DATA": str(published_users(tmp_path / "data", users=6))}
    settings = tmp_path / "memflow.toml"
    with stub_process(latency=0.05) as url:
        settings.write_text(SETTINGS.format(home=tmp_path / "home", url=url, calls=60), encoding="utf-8")
        commands = [run(settings, memory, environment) for memory in ("full", "bm25_message")]
        ends = [(*command.communicate(timeout=240), command.returncode) for command in commands]
        with urllib.request.urlopen(url.replace("/v1", "/stub/counts"), timeout=10) as response:
            counts = json.load(response)
    assert [code for *_, code in ends] == [1, 1], ends
    assert all("that processes share as both" in " ".join(out.split()) for out, *_ in ends), ends
    assert (counts["asked"], budget_use(settings, environment)) == (60, {"spent": 60, "leased": 0, "lost": 0})
    assert counts["most_in_flight"] <= 6
