"""The warehouse: named queries, SELECT statements of users, and the published DuckDB file."""

from pathlib import Path

import duckdb
import factories
import pytest

from memflow.errors import BadInput, DamagedFile
from memflow.records import TABLES, columns
from memflow.resources.lake.damage import UNPARTITIONED
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.database import METRICS
from memflow.resources.publishing.table_sql import TYPES
from memflow.resources.publishing.warehouse import Warehouse


def probe(number, **given):
    return factories.probe(
        probe_id=f"p{number}",
        question=f"Question {number}?",
        options=["a", "b"],
        revealed="lives in Oslo",
        evidence=["m1"],
        **given,
    )


def reply(number, assistant, **given):
    values = {"recalled": ["e2", "e1"], "recalled_sources": ["m1"], "parsed": "1", **given}
    return factories.reply(assistant=assistant, probe_id=f"p{number}", **values)


def verdict(number, assistant, **given):
    return factories.verdict(assistant=assistant, probe_id=f"p{number}", metric="choice", **given)


def entry(number):
    return factories.entry(entry_id=f"e{number}", text=f"said {number}", sources=[f"m{number}"], since=number)


def score(memory, value, **given):
    return factories.score(assistant=memory, memory=memory, metric="overall", value=value, **given)


def fill(lake):
    scores = [score("none", 0.0), score("full", 1.0), score("x", None), score("full", 0.5, slice="period 0")]
    for table, partition, rows in (
        ("question.probes", "d", [probe(1), probe(2), probe(3, reason="the model gave no gold")]),
        ("memory.indexes", "d/full", [entry(1), entry(2), entry(3)]),
        ("answer.replies", "d/full", [reply(1, "full"), reply(2, "full", reason="not JSON")]),
        ("answer.replies", "d/none", [reply(1, "none", recalled=[])]),
        ("score.verdicts", "d/full", [verdict(1, "full", value=1.0), verdict(2, "full", reason="no reply")]),
        ("score.verdicts", "d/none", [verdict(1, "none", value=0.0)]),
        ("score.leaderboard", "all", scores),
    ):
        lake.write(table, partition, rows, fingerprint="")


@pytest.fixture
def lake(tmp_path):
    # A folder whose name would be a pattern, had it not been escaped.
    return Lake(tmp_path / "it's [1]*" / "lake")


@pytest.fixture
def warehouse(lake, tmp_path):
    return Warehouse(lake, tmp_path / "memflow.duckdb")


@pytest.fixture
def filled(lake, warehouse):
    fill(lake)
    return warehouse


def test_leaderboard_query_returns_one_slice_with_the_best_score_first(filled):
    rows = filled.query("leaderboard")
    assert [(row["memory"], row["value"]) for row in rows] == [("full", 1.0), ("none", 0.0), ("x", None)]
    assert rows.columns[:7] == ["domain", "memory", "model", "metric", "variant", "slice", "value"]
    assert [row["value"] for row in filled.query("leaderboard", slice="period 0")] == [0.5]
    assert filled.query("leaderboard", domain="elsewhere") == []


def test_verdicts_query_returns_gold_and_answer(filled):
    rows = filled.query("verdicts", assistant="full")
    assert [(row["gold"], row["parsed"], row["value"], row["reason"]) for row in rows] == [
        ("1", "1", 1.0, None),
        ("1", "1", None, "no reply"),
    ]
    assert len(filled.query("verdicts", limit=1)) == 1
    assert [row["probe_id"] for row in filled.query("verdicts", quarantined=True)] == ["p2"]


def test_probe_query_joins_reply_recalled_texts_and_verdict(filled):
    full, none = filled.query("probe", probe_id="p1")
    assert (full["assistant"], full["recalled"]) == ("full", ["e2", "e1"])
    assert full["recalled_texts"] == ["said 2", "said 1"]
    assert (full["value"], full["gold"], full["question"]) == (1.0, "1", "Question 1?")
    assert (none["assistant"], none["recalled_texts"], none["value"]) == ("none", None, 0.0)
    assert [row["assistant"] for row in filled.query("probe", probe_id="p1", assistant="none")] == ["none"]
    [row] = filled.query("probe", probe_id="p3")
    assert (row["probe_reason"], row["assistant"], row["value"]) == ("the model gave no gold", None, None)


def test_coverage_query_counts_quarantined_replies(filled):
    full, none = filled.query("coverage")
    assert (full["asked"], full["quarantined_replies"], full["scored"], full["coverage"]) == (2, 1, 1, 0.5)
    assert (none["asked"], none["quarantined_replies"], none["coverage"]) == (1, 0, 1.0)


def test_reasons_query_counts_quarantine_reasons_by_table(filled):
    found = {
        (row["table_name"], row["assistant"]): (row["n"], row["example"]) for row in filled.query("reasons")
    }
    assert found == {
        ("question.probes", None): (1, "the model gave no gold"),
        ("answer.replies", "full"): (1, "not JSON"),
        ("score.verdicts", "full"): (1, "no reply"),
    }


def test_warehouse_rejects_unknown_query_or_parameter(filled):
    with pytest.raises(BadInput, match=r"does not exist\. Use one of: continual, coverage, leaderboard"):
        filled.query("nothing")
    with pytest.raises(BadInput, match=r"has no parameter 'colour'\. Use one of: assistant, domain"):
        filled.query("coverage", colour="red")


@pytest.mark.parametrize("table", TABLES)
def test_warehouse_table_without_partitions_is_empty_with_all_columns(warehouse, table):
    rows = warehouse.sql(f"SELECT * FROM {table}")
    assert rows == []
    assert rows.columns == [column.name for column in columns(table)]


def test_warehouse_sql_returns_the_rows_of_a_select(filled):
    rows = filled.sql("WITH p AS (FROM question.probes) SELECT count(*) AS n, min(gold) AS gold FROM p;")
    assert rows == [{"n": 3, "gold": "1"}]
    assert filled.sql("DESCRIBE score.verdicts")[0]["column_name"] == "domain"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT 1; SELECT 2",
        "COPY (SELECT 1) TO 'x.csv'",
        "CREATE TABLE t (a INT)",
        "ATTACH 'x.duckdb'",
        "SET threads = 1",
    ],
)
def test_warehouse_sql_accepts_only_a_single_select(filled, text):
    with pytest.raises(BadInput, match="Write a single SELECT"):
        filled.sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELEC 1",
        "SELECT * FROM '/etc/hostname'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM filled",
        "SELECT CAST('x' AS INT)",
    ],
)
def test_warehouse_sql_rejects_invalid_statements_and_access_to_files(filled, text):
    with pytest.raises(BadInput, match="DuckDB cannot"):
        filled.sql(text)


@pytest.mark.parametrize("assistant", ["full", "none"])
def test_warehouse_query_leaves_out_a_damaged_file_and_names_its_partition(tmp_path, assistant):
    lake = Lake(tmp_path / "lake")
    fill(lake)
    Path(lake.path("score.verdicts", f"d/{assistant}")).write_bytes(b"not at all")
    warehouse = Warehouse(lake, tmp_path / "memflow.duckdb")
    found = warehouse.query("coverage")
    assert [*found.left_out["score.verdicts"]] == [f"d/{assistant}"]
    rows = warehouse.sql("SELECT DISTINCT assistant FROM score.verdicts")
    assert rows.left_out == found.left_out and len(rows) == 1
    assert warehouse.sql("SELECT count(*) FROM answer.replies").left_out == {}
    with pytest.raises(DamagedFile, match=rf"d,{assistant}\.parquet is damaged"), warehouse.session():
        pass


def test_published_duckdb_file_matches_the_lake_and_describes_its_columns(filled, lake):
    path = filled.publish()
    with duckdb.connect(path, read_only=True) as connection:
        for table in TABLES:
            asked = f"SELECT count(*) AS n FROM {table}"
            assert connection.execute(asked).fetchone()[0] == filled.sql(asked)[0]["n"]
        described = connection.execute(
            "SELECT schema_name || '.' || table_name, column_name, data_type, comment FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        kinds = dict(
            connection.execute(
                "SELECT table_schema || '.' || table_name, table_type FROM information_schema.tables"
            ).fetchall()
        )
    assert [row for row in described if row[0] != METRICS] == sorted(
        (table, column.name, TYPES[column.type], column.description)
        for table in TABLES
        for column in columns(table)
    )
    copied = {METRICS, *UNPARTITIONED}
    assert kinds == {name: "BASE TABLE" if name in copied else "VIEW" for name in (*TABLES, METRICS)}


def test_published_views_show_partitions_that_were_written_later(tmp_path):
    lake = Lake(tmp_path / "lake")
    fill(lake)
    path = Warehouse(lake, tmp_path / "memflow.duckdb").publish()
    lake.write("score.verdicts", "d/later", [verdict(1, "later")], fingerprint="")
    with duckdb.connect(path, read_only=True) as connection:
        assert ("later",) in connection.execute("SELECT assistant FROM score.verdicts").fetchall()


def test_relative_lake_path_is_resolved_at_creation_of_the_lake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lake = Lake("lake")
    fill(lake)
    path = Warehouse(lake, "memflow.duckdb").publish()
    monkeypatch.chdir(Path("/"))
    with duckdb.connect(path, read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM question.probes").fetchone() == (3,)
