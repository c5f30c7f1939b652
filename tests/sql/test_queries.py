"""Every query in sql/queries states its grain and parameters and runs on an empty lake."""

import re
from pathlib import Path

import duckdb
import pytest

from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse

ROOT = Path(__file__).parents[2]
QUERIES = sorted((ROOT / "sql" / "queries").glob("*.sql"))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_every_query_returns_no_rows_on_an_empty_lake(path, tmp_path):
    rows = Warehouse(Lake(tmp_path / "lake"), tmp_path / "memflow.duckdb").query(path.stem)
    assert rows == []
    assert rows.columns


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_query_header_states_grain_and_parameters(path):
    text = path.read_text(encoding="utf-8")
    header = "".join(line for line in text.splitlines() if line.startswith("--"))
    assert "one row per" in header.split("Parameter")[0]
    [statement] = duckdb.extract_statements(text)
    assert statement.type == duckdb.StatementType.SELECT
    assert set(re.findall(r"\$([a-z_]+)", header)) == set(statement.named_parameters)
