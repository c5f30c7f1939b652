"""A backfill of two domains, one with an invalid file: a retry runs only the failed partition."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from served import ROOT, Served, alone, served

from memflow.assets.definitions import build_defs
from memflow.benchmarks.registry import find_domain
from memflow.resources.instance.instance import open_instance
from memflow.resources.settings.settings import load

pytestmark = pytest.mark.daemon

LANDS = ["memorybench_demo"]
DAMAGED = "amemgym_base"
DATASETS = [dataset for name in (*LANDS, DAMAGED) for dataset in find_domain(name).datasets]


def read(settings: Path, datasets: list[str]) -> dict[str, bool]:
    """Return whether each data set can be ingested."""
    found = load(settings)
    job = build_defs(found).resolve_job_def("ingest_datasets")
    with open_instance(found.home) as opened:
        return {
            name: job.execute_in_process(
                partition_key=name, instance=opened.instance, raise_on_error=False
            ).success
            for name in datasets
        }


def built(dev: Served) -> list[str]:
    return [run["runId"] for run in dev.runs() if run["jobName"] == "generate_domain"]


def test_retry_of_a_backfill_runs_only_failed_partitions(
    tmp_path: Path, published_users, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMFLOW_DATA", raising=False)  # it would go over the settings' folder
    settings, data = tmp_path / "memflow.toml", published_users(tmp_path / "data")
    settings.write_text(
        f"home = {json.dumps(str(tmp_path / 'home'))}\ndata = {json.dumps(str(data))}\n"
        f"domains = {json.dumps([*LANDS, DAMAGED])}\nassistants = ['none']\n"
    )
    file = data / "amemgym/v1.base/data.json"
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert read(settings, DATASETS) == {name: name != "amemgym_v1_base" for name in DATASETS}

    with served(settings) as dev:
        first = dev.backfill("generate_domain", [*LANDS, DAMAGED])
        assert dev.ended(first) == {**dict.fromkeys(LANDS, "SUCCESS"), DAMAGED: "FAILURE"}
        (failed,) = [
            run["runId"]
            for run in dev.runs()
            if run["status"] == "FAILURE" and run["jobName"] == "generate_domain"
        ]
        (reason,) = dev.reasons(failed)
        assert "amemgym_v1_base" in reason, reason

        file.write_text(whole, encoding="utf-8")
        assert read(settings, ["amemgym_v1_base"]) == {"amemgym_v1_base": True}
        again = dev.retry(first)
        assert dev.ended(again) == {DAMAGED: "SUCCESS"}

        before = built(dev)
        subprocess.run(
            [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "run", "--no-baselines"],
            env=alone(),
            cwd=ROOT,
            check=True,
            capture_output=True,
            timeout=900,
        )
        assert built(dev) == before, "memflow run leaves alone what is up to date"
