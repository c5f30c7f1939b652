"""Off-policy evaluation through the whole graph: play, export, replay to other memories, compare."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from memflow.cli import app
from memflow.resources.lake.lake import Lake

ON, OFF = "amemgym_base", "amemgym_base_offpolicy"
RECORDED = "bm25_message"
ASSISTANTS = ("oracle", RECORDED)
RUN = "amemgym/v1.base/run.jsonl"


def memflow(home: Path, *arguments: str):
    return CliRunner().invoke(app, ["--home", str(home), *arguments], env={"COLUMNS": "200"})


@pytest.fixture
def compared(tmp_path: Path, published_users: Callable[..., Path], run_in) -> SimpleNamespace:
    """Return a home in which both policies were measured with two generated users."""
    data, home = published_users(tmp_path / "data"), tmp_path / "home"
    run_in(home, (ON,), ASSISTANTS, data=data)
    exported = memflow(home, "export", "transcript", ON, RECORDED, str(data / RUN), "--format", "json")
    assert exported.exit_code == 0, exported.stderr
    outcome = run_in(home, (OFF,), ASSISTANTS, data=data)
    return SimpleNamespace(data=data, home=home, header=json.loads(exported.stdout), outcome=outcome)


@pytest.mark.pipeline
def test_replayed_recording_gives_its_memory_the_same_entries_and_scores(compared, run_in) -> None:
    home, header, lake = compared.home, compared.header, Lake(compared.home / "lake")
    assert not compared.outcome.failed and not compared.outcome.missing

    # The file says who spoke, and is no more than what was said.
    played = lake.read("memory.transcripts", f"{ON}/{RECORDED}")
    assert (header["domain"], header["assistant"], header["scripted"]) == (ON, RECORDED, True)
    assert header["messages"] == len(played) and header["cut"] == []
    assert header["sources"][0]["sha256"] == [lake.read("raw.records", "amemgym_v1_base")[0].sha256]

    # Off-policy nobody replied and nobody played the users.
    stages = {(row["stage"], row["role"]) for row in compared.outcome.usage}
    assert ("memory", "assistant") not in stages and ("memory", "simulator") not in stages

    # The memory that was recorded holds what it held, and scores as it did.
    entries = [
        replace(row, domain=ON) if row.domain == OFF else row
        for row in lake.read("memory.indexes", f"{OFF}/{RECORDED}")
    ]
    assert entries == lake.read("memory.indexes", f"{ON}/{RECORDED}")
    told = memflow(home, "compare", f"{ON}/{RECORDED}", f"{OFF}/{RECORDED}", "--format", "json")
    [domain] = json.loads(told.stdout)["domains"]
    rows = {row["metric"]: row for row in domain["comparisons"] if row["slice"] == "all"}
    assert rows["accuracy"]["difference"] == 0 and rows["accuracy"]["scripted"]
    assert "memory_score" in rows

    # A scripted dialogue is said to be one, whoever answers.
    assert lake.facts("raw.records", "amemgym_v1_base_run").meta["scripted"] == "yes"

    # What is up to date stays so; a file that was damaged is said, and nothing is built on it.
    assert run_in(home, (OFF,), ASSISTANTS, data=compared.data).ran == []
    file = compared.data / RUN
    file.write_text(file.read_text(encoding="utf-8").replace("bm25", "BM25").replace("what now?", "so?", 1))
    outcome = run_in(home, (OFF,), ASSISTANTS, data=compared.data)
    [(run, reason)] = outcome.failed
    assert (
        run.partition == "amemgym_v1_base_run" and "do not match the content hash in the first line" in reason
    )

    again = memflow(home, "export", "transcript", ON, RECORDED, str(file))
    assert again.exit_code == 1 and "Overwrite it with --force" in again.stderr
    assert memflow(home, "export", "transcript", ON, RECORDED, str(file), "--force").exit_code == 0
    other = memflow(home, "export", "transcript", ON, "full", str(file))
    assert f"{ON} has no stored run of assistant 'full'. Use one of: {RECORDED}" in other.stderr


def test_off_policy_run_without_recording_names_the_export_command(
    tmp_path: Path, published_users: Callable[..., Path], run_in
) -> None:
    outcome = run_in(tmp_path / "home", (OFF,), ("none",), data=published_users(tmp_path / "data"))
    [missing] = outcome.missing[OFF]
    assert missing.name == "amemgym_v1_base_run" and "memflow export transcript" in missing.how
    reasons = [reason for _, reason in outcome.failed]
    assert any("is a recorded run" in reason for reason in reasons)
