"""What a killed process leaves in Dagster's instance, the next one clears away."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import dagster as dg
import pytest

from resources.instance import UNDER_WAY, at_work, open_instance

WORKER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    import dagster as dg
    from resources.instance import at_work, open_instance

    home = Path(sys.argv[1])

    @dg.asset(pool="endpoint")
    def slow():
        print("at it", flush=True)
        time.sleep(float(sys.argv[2]))

    defs = dg.Definitions([slow], jobs=[dg.define_asset_job("job", [slow])], executor=dg.in_process_executor)
    with open_instance(home) as instance, at_work(instance, home) as tags:
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        assert defs.resolve_job_def("job").execute_in_process(
            instance=instance, tags=tags, run_config=quiet
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
def test_a_killed_process_holds_no_place_in_a_pool(tmp_path: Path) -> None:
    killed = [begin(tmp_path, 60) for _ in range(2)]  # as many as the pool has places
    for process in killed:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with open_instance(tmp_path) as instance:
        assert slots(instance) == 2
        started = time.monotonic()
        assert begin(tmp_path, 0).wait(30) == 0
        assert time.monotonic() - started < 30
        assert slots(instance) == 0
        assert instance.get_runs(dg.RunsFilter(statuses=UNDER_WAY)) == []
        assert sorted(run.status.value for run in instance.get_runs()) == ["FAILURE", "FAILURE", "SUCCESS"]


@pytest.mark.kill
def test_a_living_process_is_left_alone(tmp_path: Path) -> None:
    living = begin(tmp_path, 60)
    try:
        with open_instance(tmp_path) as instance, at_work(instance, tmp_path):
            assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.STARTED]
            assert slots(instance) == 1
    finally:
        living.kill()
        living.wait()


def test_a_process_leaves_no_lock_behind(tmp_path: Path) -> None:
    with open_instance(tmp_path) as instance:
        with at_work(instance, tmp_path):
            assert len(list((tmp_path / "dagster/processes").iterdir())) == 1
        assert list((tmp_path / "dagster/processes").iterdir()) == []
