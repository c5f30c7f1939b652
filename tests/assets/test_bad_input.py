"""Bad input to the pipeline: a clear error for the affected domain, and complete results for the others."""

import json
import os
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub import stub_process

from memflow.cli.summary import Summary
from memflow.errors import MissingData
from memflow.operations.pipeline import Silent, run_pipeline
from memflow.operations.planned_runs import Outcome, RunRequest
from memflow.operations.selection import Selection
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings, load

BAD, GOOD = "amemgym_base~1", "amemgym_demo~1"
FILE = "amemgym/v1.base/data.json"
ASSISTANTS = ("none", "oracle")


@pytest.fixture
def data(tmp_path: Path, published_users: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two published users, without other settings."""
    monkeypatch.chdir(tmp_path)
    return write_users(published_users, tmp_path)


def write_users(published_users: Callable[..., Path], folder: Path) -> Path:
    return published_users(folder / "data", users=2, periods=2, questions=1)


@pytest.fixture(scope="module")
def good_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home in which the domain GOOD was measured. Tests copy it."""
    return measured_once(tmp_path_factory.mktemp("good"), GOOD, ASSISTANTS)


@pytest.fixture(scope="module")
def published_home(tmp_path_factory: pytest.TempPathFactory, published_users: Callable[..., Path]) -> Path:
    """Return a home in which the users of `data` were ingested and measured with `none`. Tests copy it."""
    folder = tmp_path_factory.mktemp("published")
    return measured_once(folder, BAD, ("none",), data=write_users(published_users, folder))


def measured_once(folder: Path, domain: str, assistants: tuple[str, ...], **over: Any) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith("MEMFLOW_")]:
            patch.delenv(name)
        settings = load(over={"home": folder / "home", "domains": (domain,), **over})
        assert run_pipeline(settings, RunRequest((domain,), assistants), Silent()).failed == []
    return settings.home


@pytest.fixture
def good_is_measured(data: Path, good_home: Path) -> None:
    """Copy a home in which the domain GOOD was measured."""
    shutil.copytree(good_home, data.parent / "home")


@pytest.fixture
def published_is_measured(data: Path, published_home: Path) -> None:
    """Copy a home in which the published users were measured with `none`."""
    shutil.copytree(published_home, data.parent / "home")


def settings_of(data: Path, **over: Any) -> Settings:
    return load(over={"home": data.parent / "home", "data": data, "domains": (BAD, GOOD), **over})


def measured(settings: Settings, *domains: str, assistants: tuple[str, ...] = ASSISTANTS) -> Outcome:
    return run_pipeline(settings, RunRequest(domains, assistants), Silent())


def printed_summary(settings: Settings, outcome: Outcome, *domains: str) -> str:
    """Return the summary that is printed at the end of a run."""
    summary = Summary.of(Selection(settings, domains, ASSISTANTS), outcome)
    return "\n".join(str(each) for each in summary.shown())


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def wrong_column(path: Path) -> None:
    users = json.loads(path.read_text(encoding="utf-8"))
    users[1]["state_scheme"] = users[1].pop("state_schema")
    path.write_text(json.dumps(users), encoding="utf-8")


@pytest.mark.usefixtures("good_is_measured")
def test_invalid_record_is_quarantined_and_its_domain_is_evaluated(data: Path) -> None:
    wrong_column(data / FILE)
    settings = settings_of(data)
    outcome = measured(settings, BAD, GOOD)
    assert outcome.failed == []
    records = Lake(settings.lake_root).read("raw.records", "amemgym_v1_base")
    assert [record.reason is None for record in records] == [True, False]
    assert "user 1: at state_schema: Field required" in str(records[1].reason)
    assert {(figure.domain, figure.assistant) for figure in outcome.scores} == {
        (domain, assistant) for domain in (BAD, GOOD) for assistant in ASSISTANTS
    }


@pytest.mark.usefixtures("good_is_measured")
def test_invalid_data_file_fails_only_its_domain(data: Path) -> None:
    truncate(data / FILE)
    settings = settings_of(data)
    outcome = measured(settings, BAD, GOOD)
    # What, which, and what to do; once, and not again for everything that would have been made from it.
    [(run, reason)] = outcome.failed
    assert (run.job, run.partition) == ("ingest_datasets", "amemgym_v1_base")
    assert "the file is truncated or invalid JSON" in reason
    assert f"amemgym_v1_base: {FILE}: " in reason
    assert "get the file again" in reason
    assert [run.job for run in outcome.skipped] == ["generate_domain", *["evaluate_memory"] * len(ASSISTANTS)]
    assert {(figure.domain, figure.assistant) for figure in outcome.scores} == {
        (GOOD, assistant) for assistant in ASSISTANTS
    }
    text = printed_summary(settings, outcome, BAD, GOOD)
    assert reason in text
    assert "3 skipped, because their inputs failed." in text


@pytest.mark.usefixtures("good_is_measured")
def test_missing_data_file_fails_only_the_domain_that_reads_the_file(data: Path) -> None:
    (data / FILE).unlink()
    settings = settings_of(data)
    outcome = measured(settings, BAD, GOOD)
    [(run, reason)] = outcome.failed
    assert run.partition == BAD
    assert "none of its data sets is installed" in reason and "memflow data get amemgym_v1_base" in reason
    assert "MEMFLOW_DATA" in reason
    assert {figure.domain for figure in outcome.scores} == {GOOD}
    assert reason in printed_summary(settings, outcome, BAD, GOOD)


def test_run_without_data_sets_raises_missing_data_before_writing_the_lake(data: Path) -> None:
    (data / FILE).unlink()
    settings = settings_of(data)
    with pytest.raises(MissingData, match=f"{BAD}: none of its data sets is installed"):
        measured(settings, BAD)
    assert not (settings.home / "lake").exists()


def models_at(url: str, patience: float = 120.0) -> dict[str, Any]:
    there = {"kind": "endpoint", "url": url, "model": "stub", "patience": patience}
    return {
        "models": {"there": there},
        "assistants": ("none", "oracle", "none@there", "oracle@there"),
        "domains": (BAD,),
    }


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.usefixtures("published_is_measured")
def test_unreachable_model_endpoint_fails_the_run_fast_and_allows_a_rerun(data: Path) -> None:
    port = unused_port()
    settings = settings_of(data, **models_at(f"http://127.0.0.1:{port}/v1", patience=600.0))
    order = RunRequest((BAD,), ("none@there", "none"))
    started = time.monotonic()
    outcome = run_pipeline(settings, order, Silent())
    took = time.monotonic() - started
    [(run, reason)] = outcome.failed
    assert (run.partition, run.assistant) == (BAD, "none@there")
    assert f"Cannot connect to http://127.0.0.1:{port}/v1" in reason
    assert "Start the server or fix `url` of model " in reason
    assert took < 300, "the patience is for servers that have been there"
    # The other assistant's figures land, and once there is a server, the run that failed is made.
    assert {figure.assistant for figure in outcome.scores} == {"none"}
    with stub_process(port=port):
        again = run_pipeline(settings, order, Silent())
    assert again.failed == []
    assert [(run.partition, run.assistant) for run in again.ran] == [(BAD, "none@there"), (None, "")]
    assert {figure.assistant for figure in again.scores} == {"none", "none@there"}
