"""The workflow file of examples/ci: its own steps run here, with the scripted chat and a sample of dialogues."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
import yaml

import memflow
from memflow.fingerprint import digest

EXAMPLE = Path(__file__).parents[2] / "examples" / "ci"
SAMPLE = Path(memflow.__path__[0]) / "benchmarks" / "dialogues" / "sample" / "dialogues.jsonl"
INSTALL = "pip install"
pytestmark = pytest.mark.pipeline


def steps() -> list[dict[str, Any]]:
    """Return the steps of the workflow's job."""
    workflow = yaml.safe_load((EXAMPLE / "gate.yml").read_text())
    found: list[dict[str, Any]] = workflow["jobs"]["gate"]["steps"]
    return found


class Job(NamedTuple):
    """The exit code of a job's first failed step, or 0, and the job's summary."""

    exit_code: int
    summary: str


def run_job(folder: Path) -> Job:
    """Run the workflow's commands in a folder as a runner does: after a failure, only steps with `if: always()`."""
    summary = folder / "summary.md"
    summary.write_text("")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMFLOW")}
    exit_code = 0
    for step in steps():
        if "run" not in step or INSTALL in step["run"] or (exit_code and step.get("if") != "always()"):
            continue
        environment = {**clean, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary)}
        done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=environment, check=False)
        exit_code = exit_code or done.returncode
    return Job(exit_code, summary.read_text())


def export_baseline(folder: Path) -> None:
    """Run the command that the workflow's comment names for the baseline."""
    comment = " ".join(
        line.lstrip("# ") for line in (EXAMPLE / "gate.yml").read_text().split("name:")[0].splitlines()
    )
    command = shlex.split(comment.split("`")[1])
    assert command[:3] == ["memflow", "export", "verdicts"]
    program = Path(sys.executable).with_name(command[0])
    subprocess.run([program, *command[1:]], cwd=folder, check=True)


def raise_baseline(file: Path) -> None:
    """Set every value of a baseline file to 1, as if the earlier memory had answered everything."""
    header, *lines = file.read_text().splitlines()
    best = [json.dumps({**json.loads(line), "value": 1.0}) for line in lines]
    file.write_text("\n".join([json.dumps({**json.loads(header), "digest": digest(best)}), *best]) + "\n")


def test_workflow_passes_with_its_own_baseline_and_fails_with_a_better_one(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "memflow.toml", tmp_path)
    shutil.copy(SAMPLE, tmp_path / "dialogues.jsonl")
    missing = run_job(tmp_path)
    assert missing.exit_code == 3  # There is no baseline yet.
    export_baseline(tmp_path)
    same = run_job(tmp_path)
    assert same.exit_code == 0
    assert re.search(r"^answer_score +no regression ", same.summary, re.MULTILINE)
    raise_baseline(tmp_path / "baseline.jsonl")
    worse = run_job(tmp_path)
    assert worse.exit_code == 1
    assert re.search(r"^answer_score +regression ", worse.summary, re.MULTILINE)
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()[0]
    assert int(suite.get("failures", "")) > 0
    uploaded = [step["with"]["path"] for step in steps() if "upload-artifact" in step.get("uses", "")]
    assert uploaded == ["gate.xml"]
