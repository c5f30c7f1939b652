"""The Dockerfile: its instructions are known, and what it copies exists. `make image-check` runs its commands."""

from pathlib import Path

import pytest
import yaml
from image_layers import ROOT, ImageLayers, instructions


def dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.mark.parametrize("requirements", ["requirements.lock", "requirements-cluster.lock"])
def test_everything_but_the_commands_of_the_dockerfile_works(
    tmp_path: Path, requirements: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []
    layers = ImageLayers(tmp_path, {"REQUIREMENTS": requirements})
    monkeypatch.setattr(layers, "run", commands.append)
    (tmp_path / "opt/dagster").mkdir(parents=True)
    for instruction in instructions(dockerfile()):
        layers.apply(instruction)
    assert layers.variables["MEMFLOW_HOME"] == f"{tmp_path}/var/lib/memflow"
    assert (tmp_path / "opt/memflow/requirements.lock").read_bytes() == (ROOT / requirements).read_bytes()
    assert (tmp_path / "opt/memflow/resources/instance/deployment.yaml").is_file()
    settings = yaml.safe_load((tmp_path / "opt/dagster/dagster.yaml").read_text(encoding="utf-8"))
    assert "postgres" in settings["storage"]
    assert commands[0] == "pip install --require-hashes -r requirements.lock"
    assert 'python -m memflow.resources.runs.webserver "$@"' in commands[1], (
        "charts start `dagster-webserver` by name"
    )


def packages(lock: str) -> dict[str, str]:
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ")[0].partition("==") for line in lines if "==" in line and line[0].isalnum())
    return {name.partition("[")[0]: version for name, _, version in pairs}


def test_lock_for_clusters_adds_the_extras_to_the_same_versions() -> None:
    runtime, cluster = packages("requirements.lock"), packages("requirements-cluster.lock")
    assert runtime.items() <= cluster.items()
    assert {"dagster-k8s", "dagster-ray", "kubernetes", "ray"} <= cluster.keys() - runtime.keys()
    assert cluster.items() <= packages("requirements-dev.lock").items()
