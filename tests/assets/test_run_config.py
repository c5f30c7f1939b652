"""Run config: what somebody who may start a run can choose. No address, path, command or variable is among it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._config import ConfigType, ConfigTypeKind

import memflow.assets
from memflow.assets.definitions import build_defs
from memflow.resources.settings.settings import load

LEAVES = {
    "execution.config.marker_to_close": "String",
    "execution.config.step_dependency_config.require_upstream_step_success": "Bool",
    "loggers.console.config.log_level": "String",
    "loggers.console.config.name": "String",
}
"""The fields of Dagster's executor and logger, by place: names in the event log."""
OPEN = ("*", "Any")
OBSERVED = re.compile(r"ops\.(model|simulator)__\w+\.config")
"""Observed models, whose config Dagster does not let us declare. No asset reads it (a test below)."""
ATTACKS: dict[str, dict[str, Any]] = {
    "models": {"memories": {"mine": {"command": ["touch", "/tmp/file"]}}, "models": {}, "roles": {}},
    "vllm": {"models": {"m": {"kind": "vllm", "model": "m", "executable": "/tmp/program"}}},
    "ledger": {"url": "postgresql://attacker.example/x"},
    "lake": {"root": "/tmp/lake"},
    "warehouse": {"path": "/tmp/x.duckdb"},
    "data": {"folder": "/etc", "checksums": "/tmp/x"},
    "io_manager": {"base_dir": {"env": "OPENAI_API_KEY"}},
}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> list[dg.JobDefinition]:
    """Return all jobs, and the job without a name that the UI starts for selected assets."""
    settings = load(
        over={"home": tmp_path_factory.mktemp("home"), "memories": {"mine": {"system": "recent"}}}
    )
    return list(build_defs(settings).get_repository_def().get_all_jobs())


def leaves(config: ConfigType, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place and type of each field without fields; `*` for a section that accepts any further name."""
    if ConfigTypeKind.has_fields(config.kind):
        if config.kind is ConfigTypeKind.PERMISSIVE_SHAPE:
            yield place, "*"
        for name, field in config.fields.items():  # type: ignore[attr-defined]
            yield from leaves(field.config_type, f"{place}.{name}".lstrip("."))
    elif hasattr(config, "inner_type"):
        yield from leaves(config.inner_type, place)
    else:
        yield place, str(config.key)


def test_run_config_of_every_job_has_only_fields_of_executor_and_logger(jobs) -> None:
    assert {"__ASSET_JOB", "evaluate_memory", "publish_report"} <= {job.name for job in jobs}
    for job in jobs:
        found = dict(leaves(job.run_config_schema.config_type))
        closed = {place: kind for place, kind in found.items() if kind not in OPEN}
        assert closed == LEAVES, (
            f"{job.name}: may a page that starts a run choose it? Else take it from the settings."
        )
        opened = {place for place in found if place not in closed and not OBSERVED.fullmatch(place)}
        # In the job of selected assets, names of other assets and resources are accepted, and ignored.
        assert opened == ({"ops", "resources"} if job.name == "__ASSET_JOB" else set())


def test_no_asset_reads_the_config_of_its_op() -> None:
    read = [
        f"{path.name}:{node.lineno}"
        for path in Path(memflow.assets.__path__[0]).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("op_config", "run_config", "solid_config")
    ]
    assert read == []


@pytest.mark.parametrize("resource", ATTACKS)
def test_run_config_of_every_job_refuses_the_fields_of_a_resource(jobs, resource: str) -> None:
    for job in jobs:
        with pytest.raises(dg.DagsterInvalidConfigError, match=f"root:resources:{resource}|root:resources"):
            dg.validate_run_config(job, {"resources": {resource: {"config": ATTACKS[resource]}}})
