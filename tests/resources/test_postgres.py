"""Deployment files: Dagster settings for PostgreSQL and for the embedded instance, and compose.yaml."""

import shutil
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
import yaml
from sqlalchemy.engine import make_url

from memflow.resources.runs.owner_requests import HOSTS_VARIABLE

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SETTINGS = {
    name: ROOT / name for name in ("resources/instance/deployment.yaml", "resources/instance/instance.yaml")
}


@dg.asset
def tiny() -> dg.MaterializeResult[Any]:
    return dg.MaterializeResult(metadata={"dagster/row_count": 3}, data_version=dg.DataVersion("abc"))


@pytest.fixture
def deployed(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a DAGSTER_HOME with the deployment's dagster.yaml and the variables that compose.yaml sets."""
    url = make_url(postgres_url)
    named = {
        "DAGSTER_POSTGRES_HOST": url.host,
        "DAGSTER_POSTGRES_PORT": str(url.port),
        "DAGSTER_POSTGRES_USER": url.username,
        "DAGSTER_POSTGRES_PASSWORD": "any",  # the server trusts whoever comes
        "DAGSTER_POSTGRES_DB": url.database,
    }
    for name, value in named.items():
        monkeypatch.setenv(name, value or "")
    shutil.copy(SETTINGS["resources/instance/deployment.yaml"], tmp_path / "dagster.yaml")
    return tmp_path


@pytest.mark.postgres
def test_runs_and_events_are_stored_in_and_read_from_postgresql(deployed: Path, postgres_url: str) -> None:
    with dg.DagsterInstance.from_config(str(deployed)) as instance:
        result = dg.materialize([tiny], instance=instance, tags={"memflow/reason": "test"})
        assert result.success
    with dg.DagsterInstance.from_config(str(deployed)) as again:
        run = again.get_run_by_id(result.run_id)
        assert run is not None
        assert (run.status, run.tags["memflow/reason"]) == (dg.DagsterRunStatus.SUCCESS, "test")
        event = again.get_latest_materialization_event(dg.AssetKey("tiny"))
        assert event is not None and event.asset_materialization is not None
        assert event.asset_materialization.metadata["dagster/row_count"].value == 3
    engine = sa.create_engine(postgres_url)
    with engine.connect() as connection:
        for statement, found in (
            ("SELECT status FROM runs WHERE run_id = :run", ("SUCCESS",)),
            (
                "SELECT asset_key FROM event_logs WHERE run_id = :run "
                "AND dagster_event_type = 'ASSET_MATERIALIZATION'",
                ('["tiny"]',),
            ),
        ):
            assert connection.execute(sa.text(statement), {"run": result.run_id}).fetchall() == [found]
    engine.dispose()
    assert not list(deployed.glob("**/*.db")), "nothing is kept in SQLite beside it"


def test_embedded_dagster_instance_stores_runs_in_sqlite(tmp_path: Path) -> None:
    shutil.copy(SETTINGS["resources/instance/instance.yaml"], tmp_path / "dagster.yaml")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert dg.materialize([tiny], instance=instance).success
        assert instance.get_runs_count() == 1
        assert not instance.telemetry_enabled
        assert instance.run_monitoring_enabled
    assert list(tmp_path.glob("**/*.db"))


@pytest.mark.parametrize("name", SETTINGS)
def test_dagster_settings_configure_pools_monitoring_and_retention(name: str) -> None:
    found = yaml.safe_load(SETTINGS[name].read_text(encoding="utf-8"))
    assert found["concurrency"]["pools"]["granularity"] == "op"
    assert found["run_monitoring"]["free_slots_after_run_end_seconds"] > 0
    assert found["retention"]["sensor"]["purge_after_days"]["skipped"] > 0
    assert found["freshness"]["enabled"]
    assert not found["telemetry"]["enabled"]


def test_compose_file_binds_ports_to_localhost_and_sets_every_variable() -> None:
    services = COMPOSE["services"]
    ports = [port for service in services.values() for port in service.get("ports", ())]
    assert ports and all(port.startswith("127.0.0.1:") for port in ports)
    assert services["webserver"]["command"][:3] == ["python", "-m", "memflow.resources.runs.webserver"]
    for name, needed in (("code", "postgres"), ("webserver", "code"), ("daemon", "code")):
        assert services[name]["depends_on"][needed]["condition"] == "service_healthy"
        assert services[needed]["healthcheck"]["test"]
    settings = yaml.safe_load(SETTINGS["resources/instance/deployment.yaml"].read_text(encoding="utf-8"))
    asked = {value["env"] for value in settings["storage"]["postgres"]["postgres_db"].values()}
    for name in ("code", "webserver", "daemon"):
        assert {*asked, HOSTS_VARIABLE} <= set(services[name]["environment"]), name
