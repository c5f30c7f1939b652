"""The metadata of the table of health in the UI: the state of the memory, and its scores unless it is faulty."""

from pathlib import Path
from typing import Any

import pytest
from measured_lake import DOMAINS, settings_of, write_assistant, write_health, write_probes

from assets.table_metadata import domain_metadata
from resources.lake.lake import Lake
from resources.publishing.warehouse import Warehouse

NUMBERS = {"accuracy", "accuracy low", "accuracy high"}


def metadata(folder: Path, table: str, state: str) -> dict[str, Any]:
    """Return the metadata of a table of an assistant whose health is in this state."""
    settings = settings_of(folder)
    lake = Lake(settings.lake_root)
    write_probes(lake, DOMAINS[0])
    write_assistant(lake, DOMAINS[0], "full", 0)
    write_health(lake, DOMAINS[0], "full", state)
    domain = settings.domain(DOMAINS[0])
    return domain_metadata(table, domain, "full", settings, Warehouse(lake, folder / "x.duckdb"))


@pytest.mark.parametrize(("state", "numbers"), [("ok", NUMBERS), ("suspect", NUMBERS), ("faulty", set())])
def test_health_has_the_scores_of_a_memory_unless_it_is_faulty(
    tmp_path: Path, state: str, numbers: set[str]
) -> None:
    found = metadata(tmp_path, "score.health", state)
    statement = "none of 1 measures shows a fault" if state == "ok" else f"it is {state}"
    assert (found["health"], found["statement"]) == (state, statement)
    assert found.keys() & NUMBERS == numbers


def test_verdicts_have_no_scores_since_the_health_is_measured_after_them(tmp_path: Path) -> None:
    assert not metadata(tmp_path, "score.verdicts", "ok").keys() & NUMBERS
