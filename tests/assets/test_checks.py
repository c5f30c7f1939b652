"""Asset checks: an invalid partition fails the rule that covers it and blocks downstream assets."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from memflow.assets.checks import BLOCKING, WARNING
from memflow.assets.definitions import build_defs
from memflow.assets.partitions import pair
from memflow.benchmarks.registry import find_domain
from memflow.checks.expectations import expectations_of
from memflow.operations.executor import QUIET
from memflow.resources.configurable import configurable_resources
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings

DOMAIN = "memorybench_demo"
KEYS = {table: dg.AssetKey(table.split(".")) for table in ("question.probes", "feedback.sessions")}

Damage = Callable[[list[Any]], list[Any]]


class Damaged(Lake):
    """A lake that changes the rows of one table when they are written."""

    table = "question.probes"

    def __init__(self, root: Path, damage: Damage) -> None:
        super().__init__(root)
        self.change = damage

    def write(self, table: str, partition: str, rows: Any, **more: Any) -> Any:
        return super().write(
            table, partition, self.change(list(rows)) if table == self.table else rows, **more
        )


def twice(rows: list[Any]) -> list[Any]:
    return [*rows, rows[0]]


def nothing(rows: list[Any]) -> list[Any]:
    return []


def unknown_kind(rows: list[Any]) -> list[Any]:
    return [replace(rows[0], kind="riddle"), *rows[1:]]


DAMAGES = {
    twice: "unique_keys",
    nothing: "has_rows",
    unknown_kind: "valid_probe_kind",
}


def build(home: Path, damage: Damage) -> dg.ExecuteInProcessResult:
    """Run the job generate_domain on a lake that damages the probes."""
    settings = Settings(home=home)
    with dg.DagsterInstance.ephemeral() as instance:
        for job, partition, lake in (
            ("ingest_datasets", "memorybench_sample", Lake(home / "lake")),
            ("generate_domain", DOMAIN, Damaged(home / "lake", damage)),
        ):
            definitions = build_defs(settings, configurable_resources(settings, lake))
            result = definitions.resolve_job_def(job).execute_in_process(
                partition_key=partition,
                instance=instance,
                run_config={"loggers": QUIET},
                raise_on_error=False,
            )
        return result


def failed(result: dg.ExecuteInProcessResult) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the table and the record of every failed blocking rule, by rule name."""
    return {
        str(record.data["rule"]): (str(record.data["table"]), dict(record.data))
        for check in result.get_asset_check_evaluations()
        if check.severity is dg.AssetCheckSeverity.ERROR
        for record in rules(check)
        if record.data["result"] == "failed"
    }


def rules(check: dg.AssetCheckEvaluation) -> list[dg.TableRecord]:
    """Return the table of rules in a check's metadata."""
    found = check.metadata["rules"]
    assert isinstance(found, dg.TableMetadataValue)
    return list(found.records)


def materialized_assets(result: dg.ExecuteInProcessResult) -> set[dg.AssetKey]:
    return {event.asset_key for event in result.get_asset_materialization_events() if event.asset_key}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
def test_invalid_partition_fails_a_rule_and_blocks_downstream_assets(tmp_path: Path, damage: Damage) -> None:
    result = build(tmp_path, damage)
    assert not result.success
    table, rule = failed(result)[DAMAGES[damage]]
    assert table == "question.probes"
    assert rule["unexpected"] > 0
    assert ("probe_id=" in rule["offending"]) == (damage is not nothing)
    assert KEYS["question.probes"] in materialized_assets(result)
    assert KEYS["feedback.sessions"] not in materialized_assets(result)


def test_valid_partition_passes_the_rules_of_the_benchmark_of_its_domain_and_blocks_nothing(
    tmp_path: Path,
) -> None:
    result = build(tmp_path, list)
    assert result.success
    assert failed(result) == {}
    assert set(KEYS.values()) <= materialized_assets(result)
    checks = {
        check.check_name: check
        for check in result.get_asset_check_evaluations()
        if check.asset_key == KEYS["question.probes"]
    }
    assert set(checks) == {BLOCKING, WARNING}
    listed = {str(record.data["rule"]) for check in checks.values() for record in rules(check)}
    own = [
        each
        for each in expectations_of("question.probes", "memorybench")
        if each.for_domain(find_domain(DOMAIN))
    ]
    assert listed == {each.name for each in own}
    assert checks[BLOCKING].metadata["partition"].value == DOMAIN


def test_asset_check_without_partition_covers_all_partitions(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    build(tmp_path, list)
    lake = Lake(tmp_path / "lake")
    rows = lake.read("question.probes", DOMAIN)
    lake.write("question.probes", DOMAIN, unknown_kind(rows), fingerprint="test")
    key = dg.AssetCheckKey(KEYS["question.probes"], BLOCKING)
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(settings).resolve_implicit_global_asset_job_def()
        alone = job.get_subset(asset_selection=set(), asset_check_selection={key})
        result = alone.execute_in_process(instance=instance, raise_on_error=False)
    [check] = result.get_asset_check_evaluations()
    assert (check.asset_check_key, check.passed) == (key, False)
    assert failed(result)["valid_probe_kind"][1]["unexpected"] == 1


def test_asset_check_fails_on_an_empty_lake(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    key = dg.AssetCheckKey(KEYS["question.probes"], BLOCKING)
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(settings).resolve_implicit_global_asset_job_def()
        alone = job.get_subset(asset_selection=set(), asset_check_selection={key})
        result = alone.execute_in_process(instance=instance, raise_on_error=False)
    assert not result.success
    assert result.get_asset_check_evaluations() == []


def test_materializing_a_single_asset_runs_only_checks_of_that_asset(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    key = dg.AssetKey(["score", "attributions"])
    with dg.DagsterInstance.ephemeral() as instance:
        build(tmp_path, list)
        job = build_defs(settings).resolve_job_def("evaluate_memory")
        for each in (job, job.get_subset(asset_selection={key})):
            result = each.execute_in_process(partition_key=pair(DOMAIN, "none"), instance=instance)
    assert [check.asset_check_key for check in result.get_asset_check_evaluations()] == [
        dg.AssetCheckKey(key, BLOCKING)
    ]


def test_great_expectations_check_reports_an_invalid_raw_record(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    damage = Damaged(tmp_path / "lake", lambda rows: [replace(rows[0], sha256="?"), *rows[1:]])
    damage.table = "raw.records"
    with dg.DagsterInstance.ephemeral() as instance:
        job = build_defs(settings, configurable_resources(settings, damage)).resolve_job_def(
            "ingest_datasets"
        )
        result = job.execute_in_process(
            partition_key="memorybench_sample", instance=instance, raise_on_error=False
        )
    table, rule = failed(result)["expect_column_values_to_match_regex sha256"]
    assert (table, rule["unexpected"]) == ("raw.records", 1)
    [check] = [each for each in result.get_asset_check_evaluations() if each.check_name == BLOCKING]
    [materialized] = result.asset_materializations_for_node(result.dagster_run.step_keys_to_execute[0])
    assert check.metadata["data docs"] == materialized.metadata["data docs"]
    page = Path(str(check.metadata["data docs"].value).removeprefix("file://"))
    assert "raw.records of memorybench_sample" in page.read_text(encoding="utf-8")
