"""The first change of a simulator after `memflow run`: the run records what it used, so the sensor sees the change."""

from pathlib import Path
from typing import Any

import dagster as dg
from drift_settings import write_settings

from memflow.assets.definitions import build_defs
from memflow.assets.jobs import OBSERVE
from memflow.operations.pipeline import Silent, run_pipeline
from memflow.operations.planned_runs import Outcome, PlannedRun, RunRequest
from memflow.resources.instance.instance import open_instance
from memflow.resources.settings.settings import Settings, load

DOMAIN, ASSISTANT = "generated_users", "full"


def settings_of(folder: Path, simulator: str) -> Settings:
    """Return settings of one user in one domain, played by this simulator."""
    file = write_settings(folder, users=1, simulator=simulator)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(', "memorybench_demo"', ""), encoding="utf-8")
    return load(file)


def requested(settings: Settings, instance: dg.DagsterInstance, cursor: Any) -> tuple[set[str], Any]:
    """Return the assets of the domain that an evaluation of the sensor requests, and the next cursor."""
    definitions = build_defs(settings)
    result = dg.evaluate_automation_conditions(definitions, instance=instance, cursor=cursor)
    keys = definitions.resolve_asset_graph().materializable_asset_keys
    return {
        key.to_user_string() for key in keys if DOMAIN in result.get_requested_partitions(key)
    }, result.cursor


def test_sensor_requests_users_when_the_simulator_changed_after_the_first_run(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "first")
    outcome = run_pipeline(settings, RunRequest([DOMAIN], [ASSISTANT]), Silent())
    assert not outcome.failed
    settings = settings_of(tmp_path, "another")
    with open_instance(settings.home) as opened:
        first, cursor = requested(settings, opened.instance, None)
        job = build_defs(settings).resolve_job_def(OBSERVE[0])
        assert job.execute_in_process(instance=opened.instance, partition_key=DOMAIN).success
        second, cursor = requested(settings, opened.instance, cursor)
        third, _ = requested(settings, opened.instance, cursor)
    assert not first
    assert {"state/variables", "utterance/turns", "question/probes"} <= second | third


def test_models_are_recorded_only_of_domains_and_assistants_without_a_failed_run() -> None:
    domain, other, failed = (
        PlannedRun("domain", "a"),
        PlannedRun("domain x assistant", "a", "full"),
        PlannedRun("domain x assistant", "b", "recent"),
    )
    outcome = Outcome(ran=[domain, PlannedRun("domain", "b")], up_to_date=[other])
    assert outcome.complete == (["a", "b"], ["full"])
    outcome.failed = [(failed, "no server answers")]
    assert outcome.complete == (["a"], ["full"])
