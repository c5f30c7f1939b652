"""The Kubernetes example: manifests are valid, and a run is a Job that has settings, data and secrets."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import kubernetes_validate
import pytest
import yaml
from dagster._core.instance.ref import InstanceRef
from dagster_k8s import K8sRunLauncher
from dagster_k8s.container_context import K8sContainerContext
from dagster_k8s.job import construct_dagster_k8s_job
from kubernetes.client import ApiClient

from memflow.resources.runs.owner_requests import HOSTS_VARIABLE, LOOPBACK
from memflow.resources.settings.settings import load

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/deployments/kubernetes"
VERSION = "1.35"
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: none, user: {}}]
"""


def documents(name: str) -> list[dict[str, Any]]:
    """Return the objects of a manifest."""
    return [*yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8"))]


def values() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "values.yaml").read_text(encoding="utf-8"))
    return found


def snake_case(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of the chart by their names in dagster.yaml."""
    return {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", key): settings[key] for key in settings}


def instance_settings(kubeconfig: Path) -> dict[str, Any]:
    """Return the parts of dagster.yaml that the chart writes from the values, without the databases."""
    given = values()
    launcher = given["runLauncher"]["config"]["k8sRunLauncher"]
    run = launcher["runK8sConfig"]
    daemon = given["dagsterDaemon"]
    coordinator = daemon["runCoordinator"]["config"]["queuedRunCoordinator"]
    return {
        "run_launcher": {
            "module": "dagster_k8s",
            "class": "K8sRunLauncher",
            "config": {
                "load_incluster_config": False,  # this is no cluster
                "kubeconfig_file": str(kubeconfig),
                "job_namespace": "memflow",
                "image_pull_policy": launcher["imagePullPolicy"],
                "service_account_name": "memflow-dagster",
                "dagster_home": given["global"]["dagsterHome"],
                "instance_config_map": "memflow-dagster-instance",
                "postgres_password_secret": given["global"]["postgresqlSecretName"],
                "env_config_maps": [each["name"] for each in launcher["envConfigMaps"]],
                "env_secrets": [each["name"] for each in launcher["envSecrets"]],
                "volumes": launcher["volumes"],
                "volume_mounts": launcher["volumeMounts"],
                "resources": launcher["resources"],
                "fail_pod_on_run_failure": launcher["failPodOnRunFailure"],
                "run_k8s_config": {
                    "container_config": run["containerConfig"],
                    "pod_spec_config": run["podSpecConfig"],
                    "job_spec_config": run["jobSpecConfig"],
                },
            },
        },
        "run_coordinator": {
            "module": "dagster.core.run_coordinator",
            "class": "QueuedRunCoordinator",
            "config": {
                **snake_case(coordinator),
                # Defaults of the chart.
                "dequeue_use_threads": True,
                "dequeue_num_workers": 4,
            },
        },
        "run_monitoring": snake_case(daemon["runMonitoring"]),
        "run_retries": snake_case(daemon["runRetries"]),
        "telemetry": given["telemetry"],
    }


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG, encoding="utf-8")
    reference = InstanceRef.from_dir(str(tmp_path), overrides=instance_settings(kubeconfig))
    with dg.DagsterInstance.from_ref(reference) as instance:
        yield instance


@pytest.fixture
def job(instance: dg.DagsterInstance) -> dict[str, Any]:
    """Return the Kubernetes Job of a run, as the launcher builds it."""
    launcher = instance.run_launcher
    assert isinstance(launcher, K8sRunLauncher)
    context = K8sContainerContext.create_for_run(dg.DagsterRun("evaluate_memory"), launcher, True)
    image = values()["dagster-user-deployments"]["deployments"][0]["image"]
    config = context.get_k8s_job_config(f"{image['repository']}:{image['tag']}", launcher)
    built = construct_dagster_k8s_job(
        config,
        ["dagster", "api", "execute_run", "{}"],
        "dagster-run-1",
        user_defined_k8s_config=context.run_k8s_config,
        component="run_worker",
    )
    found: dict[str, Any] = ApiClient().sanitize_for_serialization(built)
    return found


@pytest.mark.parametrize("name", ["settings.yaml", "secrets.yaml", "vllm.yaml"])
def test_manifest_is_valid(name: str) -> None:
    for document in documents(name):
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_probe_asks_the_web_server_under_a_host_that_it_answers() -> None:
    web_server = values()["dagsterWebserver"]
    (header,) = web_server["readinessProbe"]["httpGet"]["httpHeaders"]
    (variable,) = web_server["env"]
    assert variable["name"] == HOSTS_VARIABLE
    assert header["name"] == "Host" and header["value"] in {*LOOPBACK, *variable["value"].split()}


def test_instance_queues_monitors_and_retries_runs(instance: dg.DagsterInstance) -> None:
    assert instance.run_launcher.supports_check_run_worker_health
    assert instance.run_monitoring_enabled
    assert instance.run_retries_enabled and instance.run_retries_max_retries == 2
    queue = instance.get_concurrency_config().run_queue_config
    assert queue is not None
    assert (queue.max_concurrent_runs, queue.tag_concurrency_limits[0]["limit"]) == (16, 12)


def test_run_is_a_valid_job_with_settings_data_and_secrets_by_name(job: dict[str, Any]) -> None:
    kubernetes_validate.validate(job, VERSION, strict=True)
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "REGISTRY/memflow:0.2.0"
    assert container["args"][:3] == ["dagster", "api", "execute_run"]
    assert container["resources"]["limits"] == {"memory": "8Gi"}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert pod["securityContext"]["runAsUser"] == 1000
    assert pod["restartPolicy"] == "Never"
    assert job["spec"]["ttlSecondsAfterFinished"] == 86400
    variables = {each["name"]: each for each in container["env"]}
    assert variables["DAGSTER_HOME"]["value"] == "/opt/dagster"
    password = variables["DAGSTER_PG_PASSWORD"]["valueFrom"]["secretKeyRef"]
    assert password == {"name": "memflow-postgresql", "key": "postgresql-password"}
    names = {next(iter(source.values()))["name"] for source in container["envFrom"]}
    assert names == {"memflow-environment", "memflow-secrets"}
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert mounts["/data"]["readOnly"] and mounts["/etc/memflow"]["readOnly"]
    assert "readOnly" not in mounts["/lake"]
    kinds = {volume["name"]: set(volume) - {"name"} for volume in pod["volumes"]}
    assert kinds["home"] == {"emptyDir"}
    assert kinds["data"] == kinds["lake"] == {"persistentVolumeClaim"}


def test_settings_of_the_config_map_load_with_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, environment, *_ = documents("settings.yaml")
    file = tmp_path / "memflow.toml"
    file.write_text(settings["data"]["memflow.toml"], encoding="utf-8")
    for name, value in environment["data"].items():
        monkeypatch.setenv(name, value)
    loaded = load(file)
    assert loaded.models["qwen"].concurrency == 16
    assert loaded.budget.calls == 1_000_000
    mounts = values()["runLauncher"]["config"]["k8sRunLauncher"]["volumeMounts"]
    paths = {mount["mountPath"] for mount in mounts}
    assert {
        str(loaded.home),
        str(loaded.data),
        loaded.lake_root,
        str(Path(environment["data"]["MEMFLOW_SETTINGS"]).parent),
    } == paths
    service = documents("vllm.yaml")[0]["metadata"]["name"]
    assert loaded.models["qwen"].url == f"http://{service}:8000/v1"


def test_names_of_config_maps_secrets_and_claims_exist(job: dict[str, Any]) -> None:
    objects = [*documents("settings.yaml"), *documents("secrets.yaml")]
    defined = {(each["kind"], each["metadata"]["name"]) for each in objects}
    text = json.dumps(values())
    for kind, name in defined:
        assert name in text, f"{kind} {name}"
    used = {
        ("Secret", "memflow-secrets"),
        ("Secret", "memflow-postgresql"),
        ("ConfigMap", "memflow-environment"),
    }
    assert used <= defined


def test_no_secret_value_is_in_the_files() -> None:
    for secret in documents("secrets.yaml"):
        assert set(secret["stringData"].values()) == {""}
    assert "password:" not in (FOLDER / "values.yaml").read_text(encoding="utf-8").lower()
