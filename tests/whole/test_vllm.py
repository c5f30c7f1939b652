"""Runs with a started vLLM server: two processes share it, and describe it in their metadata."""

import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
from fake_vllm import fake_vllm, is_alive, starts, workers

from memflow.resources.instance.instance import open_instance

SETTINGS = """
home = "home"
[models.small]
kind = "vllm"
model = "tiny"
executable = "{program}"
max_model_len = 100000
[roles]
assistant = "small"
judge = "small"
"""


def start_run(memory: str, environment: dict[str, str]) -> "subprocess.Popen[str]":
    words = [
        sys.executable,
        "-m",
        "memflow.cli",
        "run",
        "--domain",
        "amemgym_demo",
        "--limit",
        "1",
        "--no-baselines",
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen([*words, "--memory", memory], env=environment, text=True, **pipes)


@pytest.mark.kill
def test_two_runs_share_a_server_that_ends_with_the_last(
    tmp_path: Path, own_environment: dict[str, str]
) -> None:
    log = tmp_path / "answers"
    options = f"--latency 0.2 --version 0.32.0 --max-model-len 100000 --log {log}"
    program = fake_vllm(tmp_path / "fake", options=options)
    Path("memflow.toml").write_text(SETTINGS.format(program=program), encoding="utf-8")
    with (
        start_run("full", own_environment) as one,
        start_run("recent", own_environment) as two,
    ):
        until = time.monotonic() + 100
        while not log.exists() or len(log.read_text().splitlines()) < 10:
            assert time.monotonic() < until and (one.poll(), two.poll()) == (None, None)
            time.sleep(0.05)
        outputs = [each.communicate(timeout=150)[0] for each in (one, two)]
    assert [one.returncode, two.returncode] == [0, 0], outputs
    assert len(starts(tmp_path / "fake")) == 1, outputs
    with open_instance(tmp_path / "home") as opened:
        found = {}
        for stage, table in (("memory", "transcripts"), ("answer", "replies")):
            record = opened.instance.get_latest_materialization_event(dg.AssetKey([stage, table]))
            assert record is not None and record.asset_materialization is not None
            found[stage] = record.asset_materialization.metadata
    facts = found["answer"]["vllm small"].value
    assert isinstance(facts, dict)
    assert "serving on port" in facts["log_end"]
    assert "--max-model-len" in facts["command"] and Path(facts["log"]).is_file()
    until = time.monotonic() + 20
    while any(map(is_alive, workers(tmp_path / "fake"))) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(is_alive, workers(tmp_path / "fake")))
