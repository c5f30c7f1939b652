"""The metadata of the table of health in the UI: the state of the memory, and its scores unless it is faulty."""

from pathlib import Path

import pytest
from measured_lake import DOMAINS, settings_of, write_assistant, write_health, write_probes

from memflow.assets.fingerprints import Fingerprints
from memflow.assets.score import health_metadata
from memflow.assets.step_assets import PartitionRun
from memflow.pipeline import WRITERS
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse

NUMBERS = {"accuracy", "accuracy low", "accuracy high"}


@pytest.mark.parametrize(("state", "numbers"), [("ok", NUMBERS), ("suspect", NUMBERS), ("faulty", set())])
def test_health_has_the_scores_of_a_memory_unless_it_is_faulty(
    tmp_path: Path, state: str, numbers: set[str]
) -> None:
    settings = settings_of(tmp_path)
    lake = Lake(settings.lake_root)
    write_probes(lake, DOMAINS[0])
    write_assistant(lake, DOMAINS[0], "full", 0)
    write_health(lake, DOMAINS[0], "full", state)
    run = PartitionRun(
        step=WRITERS["score.health"],
        domain=settings.domain(DOMAINS[0]),
        assistant="full",
        run_id="run",
        settings=settings,
        fingerprints=Fingerprints.of(settings),
        lake=lake,
        data=None,
        models=None,
        warehouse=Warehouse(lake, tmp_path / "x.duckdb"),
        asks_probes=False,
    )
    metadata = health_metadata(run, "score.health")
    statement = "none of 1 measures shows a fault" if state == "ok" else f"it is {state}"
    assert (metadata["health"], metadata["statement"]) == (state, statement)
    assert metadata.keys() & NUMBERS == numbers
