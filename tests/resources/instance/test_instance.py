"""Cleanup of Dagster's instance after a killed process."""

import importlib.util
import signal
import socket
import subprocess
import sys
import textwrap
from importlib.resources import files
from pathlib import Path

import dagster as dg
import pytest
import yaml
from sqlalchemy.engine import make_url

from memflow.errors import BadSettings
from memflow.resources.instance.instance import dagster_home, open_instance, require_own_runs
from memflow.resources.runs.recovery import IN_PROGRESS

WORKER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    import dagster as dg
    from memflow.resources.instance.instance import open_instance

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
    settings = files("memflow.resources.instance").joinpath("deployment.yaml").read_text(encoding="utf-8")
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


@pytest.mark.parametrize(("module", "extra"), [("dagster_ray", "ray"), ("dagster_k8s", "kubernetes")])
def test_settings_of_dagster_that_name_a_missing_extra_say_which_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    settings = dagster_home(tmp_path) / "dagster.yaml"
    settings.write_text(yaml.safe_dump({"run_launcher": {"module": module, "class": "Launcher"}}))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadSettings, match=rf"names {module}, .*Install memflow-bench\[{extra}\]"):
        dagster_home(tmp_path)


def test_memflow_run_is_refused_where_a_cluster_starts_the_runs(tmp_path: Path) -> None:
    folder = dagster_home(tmp_path)
    launcher = {
        "module": "dagster_ray",
        "class": "RayRunLauncher",
        "config": {"ray": {"address": "http://a:1"}},
    }
    (folder / "dagster.yaml").write_text(yaml.safe_dump({"run_launcher": launcher}), encoding="utf-8")
    with (
        open_instance(tmp_path) as opened,
        pytest.raises(BadSettings, match=r"RayRunLauncher, .*set DAGSTER_HOME"),
    ):
        require_own_runs(opened.instance)


@pytest.mark.parametrize("name", ["instance.yaml", "deployment.yaml", "deployment_ray.yaml"])
def test_settings_of_dagster_are_valid(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    """Dagster refuses a launcher that cannot do what its monitoring is to do."""
    url = make_url(postgres_url)
    values = {"HOST": url.host, "PORT": url.port, "USER": url.username, "PASSWORD": "any", "DB": url.database}
    for variable, value in values.items():
        monkeypatch.setenv(f"DAGSTER_POSTGRES_{variable}", str(value))
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "http://127.0.0.1:1")
    text = files("memflow.resources.instance").joinpath(name).read_text(encoding="utf-8")
    (tmp_path / "dagster.yaml").write_text(text, encoding="utf-8")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert instance.run_monitoring_enabled and instance.run_retries_enabled
        assert instance.run_launcher.supports_resume_run == (name == "deployment_ray.yaml")
        assert not instance.run_retries_retry_on_asset_or_op_failure
