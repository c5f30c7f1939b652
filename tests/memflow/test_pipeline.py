"""Assets, checks and the dry run take their tables and their order from memflow/pipeline.py."""

import ast
import inspect
import re
from pathlib import Path

import dagster as dg
import pytest
from generated import generate

from memflow.assets.checks import check_steps, checked_asset
from memflow.assets.definitions import build_defs
from memflow.pipeline import (
    JOBS,
    RETRIEVAL_JOB,
    RETRIEVAL_ONLY,
    RETRIEVAL_ONLY_JOB,
    STEPS,
    WRITERS,
    steps_of,
    tables_of,
)
from memflow.records import TABLES
from memflow.resources.settings.settings import Settings

ROOT = Path(__file__).parents[2]
TABLE = re.compile("|".join(rf"\b{re.escape(table)}\b" for table in TABLES))


def test_every_table_is_written_by_exactly_one_pipeline_step() -> None:
    written = [table for step in STEPS for table in step.writes]
    assert sorted(written) == sorted(TABLES)
    assert len(WRITERS) == len(written)


def test_inputs_of_every_step_are_written_by_earlier_steps() -> None:
    known: set[str] = set()
    for step in STEPS:
        assert set(step.inputs) <= known, step.name
        assert set(step.conditional) <= set(step.inputs), step.name
        known |= set(step.writes)


def test_assets_and_jobs_have_the_tables_and_inputs_of_the_pipeline_steps(tmp_path: Path) -> None:
    definitions = build_defs(Settings(home=tmp_path))
    graph = definitions.resolve_asset_graph()
    for step in STEPS:
        for table in step.writes:
            node = graph.get(dg.AssetKey(table.split(".")))
            observed = {key for key in node.parent_keys if key.path[0] in ("simulator", "model")}
            assert {".".join(key.path) for key in node.parent_keys - observed} == set(step.inputs)
            assert bool(observed) == bool(set(step.models) - {"metric backends"}), table
    for scope, (name, _) in JOBS.items():
        made = definitions.resolve_job_def(name).asset_layer.executable_asset_keys
        assert {".".join(key.path) for key in made} == set(tables_of(scope))
    jobs = {RETRIEVAL_JOB: ("score.retrieval",), RETRIEVAL_ONLY_JOB: RETRIEVAL_ONLY}
    for name, tables in jobs.items():
        made = definitions.resolve_job_def(name).asset_layer.executable_asset_keys
        assert {".".join(key.path) for key in made} == set(tables)
    for table in (table for step in STEPS if step.on_request for table in step.writes):
        assert any(table in tables for tables in jobs.values()), table
        assert graph.get(dg.AssetKey(table.split("."))).automation_condition is None


def test_check_steps_cover_every_step_exactly_once() -> None:
    names = [step.name for steps in check_steps().values() for step in steps]
    assert sorted(names) == sorted(step.name for step in STEPS)
    assert [step.name for step in check_steps()["claims_and_health"]] == ["claims", "health"]


def test_steps_that_read_a_table_are_blocked_by_the_checks_of_its_step() -> None:
    for step in STEPS:
        checked = ".".join(checked_asset(step).path)
        for later in steps_of(step.scope):
            assert checked in later.inputs or not set(step.writes) & set(later.inputs), (
                step.name,
                later.name,
            )


def test_dry_run_runs_pipeline_steps_that_call_models_in_order() -> None:
    made = generate.__wrapped__("amemgym_demo", 1)
    made.dry_run.run("domain x assistant", made.domain, "full")
    ran = [step.step for step in made.dry_run.forecasts]
    order = [step.name for step in STEPS if step.models]
    assert ran == [name for name in order if name in ran]
    assert set(order) - set(ran) == {"verdicts"}  # AMemGym's verdicts call no judge


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_every_pipeline_step_has_a_one_line_description(step) -> None:
    assert step.description.endswith(".") and "\n" not in step.description
    assert (step in steps_of(step.scope)) != step.on_request


def test_step_inputs_are_declared_only_in_the_pipeline_module() -> None:
    """A literal with more than two table names in assets/ or in the dry run would be a second declaration."""
    found = []
    for path in [
        *(ROOT / "assets").glob("*.py"),
        ROOT / "memflow/run/dry_run.py",
        ROOT / "memflow/operations/pipeline.py",
    ]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Tuple | ast.List | ast.Dict)
                and len(TABLE.findall(ast.unparse(node))) > 2
            ):
                found.append(f"{path.name}: {ast.unparse(node)[:80]}")
    assert found == []
    assert "question.probes" in inspect.getsource(inspect.getmodule(STEPS[0].__class__))
