"""Cleanup of Dagster's instance after a killed process."""

import signal
import socket
import subprocess
import sys
import textwrap
from importlib.resources import files
from pathlib import Path

import dagster as dg
import pytest

from memflow.errors import BadSettings
from resources.instance.instance import dagster_home, open_instance
from resources.runs.recovery import IN_PROGRESS

WORKER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    import dagster as dg
    from resources.instance.instance import open_instance

    home = Path(sys.argv[1])

    @dg.asset(pool="endpoint")
    def slow():
        print("at it", flush=True)
        time.sleep(float(sys.argv[2]))

    defs = dg.Definitions([slow], jobs=[dg.define_asset_job("job", [slow])], executor=dg.in_process_executor)
    with open_instance(home) as opened:
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        assert defs.resolve_job_def("job").execute_in_process(
            instance=opened.instance, tags=opened.tags, run_config=quiet
        ).success
    """
)


def begin(home: Path, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(home), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "at it\n"
    return process


def slots(instance: dg.DagsterInstance) -> int:
    return len(instance.event_log_storage.get_concurrency_info("endpoint").active_run_ids)


@pytest.mark.kill
def test_next_process_frees_pool_slots_of_killed_processes(tmp_path: Path) -> None:
    killed = [begin(tmp_path, 60) for _ in range(2)]  # as many as the pool has places
    for process in killed:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with dg.DagsterInstance.from_config(str(dagster_home(tmp_path))) as instance:
        assert slots(instance) == 2
        assert begin(tmp_path, 0).wait(60) == 0
        assert slots(instance) == 0
        assert instance.get_runs(dg.RunsFilter(statuses=IN_PROGRESS)) == []
        assert sorted(run.status.value for run in instance.get_runs()) == ["FAILURE", "FAILURE", "SUCCESS"]


@pytest.mark.kill
def test_open_instance_does_not_end_runs_of_a_running_process(tmp_path: Path) -> None:
    living = begin(tmp_path, 60)
    try:
        with open_instance(tmp_path) as opened:
            assert [run.status for run in opened.instance.get_runs()] == [dg.DagsterRunStatus.STARTED]
            assert slots(opened.instance) == 1
    finally:
        living.kill()
        living.wait()


def test_closed_instance_removes_the_lock_file_of_its_process(tmp_path: Path) -> None:
    with open_instance(tmp_path):
        assert len(list((tmp_path / "dagster/processes").iterdir())) == 1
    assert list((tmp_path / "dagster/processes").iterdir()) == []


def test_unreachable_database_is_reported_in_a_sentence_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    utils = pytest.importorskip("dagster_postgres.utils", reason="dagster-postgres is not installed")
    monkeypatch.setattr(utils.time, "sleep", lambda seconds: None)
    settings = files("resources.instance").joinpath("deployment.yaml").read_text(encoding="utf-8")
    (tmp_path / "dagster.yaml").write_text(settings, encoding="utf-8")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # not listening, so connections are refused
        values = {"HOST": "127.0.0.1", "PORT": str(closed.getsockname()[1]), "USER": "u", "DB": "d"}
        for name, value in {**values, "PASSWORD": "the password"}.items():
            monkeypatch.setenv(f"DAGSTER_POSTGRES_{name}", value)
        with (
            pytest.raises(
                BadSettings, match=r"cannot connect to Dagster's database .*refused.*dagster\.yaml"
            ) as error,
            open_instance(tmp_path),
        ):
            pass
    assert "the password" not in str(error.value)


def test_edited_file_that_names_a_former_module_is_rejected_with_its_new_name(tmp_path: Path) -> None:
    text = files("resources.instance").joinpath("instance.yaml").read_text(encoding="utf-8")
    folder = dagster_home(tmp_path)
    edited = text.replace("resources.runs.launcher", "resources.run_launcher").replace(
        "max_concurrent_runs: 4", "max_concurrent_runs: 3"
    )
    (folder / "dagster.yaml").write_text(edited, encoding="utf-8")
    with pytest.raises(BadSettings, match=r"Replace resources\.run_launcher by resources\.runs\.launcher$"):
        dagster_home(tmp_path)
