"""The asset graph: its structure as a text snapshot, descriptions, configuration and default states.

The snapshot is graph.txt beside this file. After an intended change, regenerate it and check the difference:
`python tests/assets/test_graph.py`.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from memflow.assets.definitions import build_defs
from memflow.assets.metadata import RowSummary, materialized
from memflow.records import TABLES, Profile, columns
from memflow.resources.settings.settings import Settings

SNAPSHOT = Path(__file__).with_name("graph.txt")
TABLE_KEYS = [dg.AssetKey(table.split(".")) for table in TABLES]


def defs_in(home: Path) -> dg.Definitions:
    return build_defs(Settings(home=home))


@pytest.fixture(scope="module")
def defs(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    return defs_in(tmp_path_factory.mktemp("home"))


def lines(defs: dg.Definitions) -> Iterator[str]:
    """Yield the graph as text: a line for each definition, followed by its properties."""
    graph = defs.resolve_asset_graph()
    for key in sorted(graph.get_all_asset_keys(), key=lambda key: key.path):
        node = graph.get(key)
        yield f"asset {key.to_user_string()}"
        yield f"  group {node.group_name}, {'made' if node.is_materializable else 'observed'}"
        if node.kinds:
            yield f"  kinds {', '.join(sorted(node.kinds))}"
        if node.is_partitioned:
            yield f"  partitions {shape(node.partitions_def)}"
        if node.pools:
            yield f"  pool {', '.join(sorted(node.pools))}"
        if node.automation_condition:
            yield f"  made again when: {node.automation_condition.get_label()}"
        for parent in sorted(node.parent_keys, key=lambda key: key.path):
            mapping = node.partition_mappings.get(parent)
            through = f", through {type(mapping).__name__}" if mapping else ""
            yield f"  from {parent.to_user_string()}{through}"
        for check in sorted(node.check_keys, key=lambda check: check.name):
            blocks = " (blocks)" if graph.get(check).blocking else ""
            yield f"  check {check.name}{blocks}"
    for job in sorted(defs.jobs or [], key=lambda job: job.name):
        made = defs.resolve_job_def(job.name).asset_layer.executable_asset_keys
        yield f"job {job.name}"
        yield f"  {', '.join(sorted(key.to_user_string() for key in made))}"
    for schedule in defs.schedules or []:
        yield f"schedule {schedule.name}: {schedule.cron_schedule}, {schedule.default_status.value}"
        yield f"  runs {schedule.job_name}"
    for sensor in defs.sensors or []:
        yield f"sensor {sensor.name}: {sensor.default_status.value}"
    yield f"resources {', '.join(sorted(defs.resources or {}))}"


def shape(partitions: dg.PartitionsDefinition | None) -> str:
    if isinstance(partitions, dg.MultiPartitionsDefinition):
        return " x ".join(sorted(dimension.name for dimension in partitions.partitions_defs))
    assert partitions is not None
    return ", ".join(partitions.get_partition_keys())


def test_asset_graph_matches_the_stored_snapshot(defs: dg.Definitions) -> None:
    agreed = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    assert list(lines(defs)) == agreed, "the graph differs; was that meant? python tests/assets/test_graph.py"


def test_table_assets_have_description_owner_kind_and_schema(defs: dg.Definitions) -> None:
    graph = defs.resolve_asset_graph()
    for table, key in zip(TABLES, TABLE_KEYS, strict=True):
        node = graph.get(key)
        assert node.description.startswith("One row per"), key
        assert "Key: " in node.description
        assert node.owners, key
        assert node.kinds, key
        stated = node.metadata["dagster/column_schema"]
        assert isinstance(stated, dg.TableSchema)
        assert [column.name for column in stated.columns] == [column.name for column in columns(table)]
        assert all(column.description for column in stated.columns)


def test_jobs_schedules_sensors_and_assets_have_descriptions(defs: dg.Definitions) -> None:
    named = [*(defs.jobs or []), *(defs.schedules or []), *(defs.sensors or [])]
    assert [each.name for each in named if not each.description] == []
    graph = defs.resolve_asset_graph()
    assert [key for key in graph.get_all_asset_keys() if not graph.get(key).description] == []


def test_materialization_report_counts_rows_and_shortens_the_preview() -> None:
    rows = [
        Profile(domain="d", user_id=f"u{number}", name="a|b\nc", profile="x" * 300, start_date="2020-01-01")
        for number in range(7)
    ]
    lost = Profile(domain="d", user_id="u7", name="", profile="", start_date="", reason="no answer")
    summary = RowSummary()
    assert len(list(summary.observe([*rows, lost]))) == 8
    made = materialized("state.profiles", summary, "content", {"asked": 3, "latency_s": 1.5})
    said = made.metadata
    assert made.data_version == dg.DataVersion("content")
    assert (type(said["dagster/partition_row_count"]), said["dagster/partition_row_count"]) == (int, 8)
    assert (said["quarantined"], said["first_reason"]) == (1, "no answer")
    assert [said[name] for name in ("asked", "latency_s")] == [
        dg.MetadataValue.float(3.0),
        dg.MetadataValue.float(1.5),
    ]
    preview = said["preview"].value.splitlines()
    assert len(preview) == 2 + 5  # head and rule, and the first rows
    assert all(len(line) < 400 and line.count(" | ") == preview[0].count(" | ") for line in preview[2:])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        SNAPSHOT.write_text("\n".join(lines(defs_in(Path(home)))) + "\n", encoding="utf-8")
