"""The noise of stored scores: which repeats count."""

from pathlib import Path

import measured_lake
import pytest
from measured_lake import write_assistant, write_probes

from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog
from memflow.resources.publishing.leaderboard import leaderboard, same_inputs
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.scoring.drift import INPUTS

DOMAIN = "comem_demo"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings of a home with the verdicts of two assistants, and of repeats of one."""
    settings = measured_lake.settings_of(tmp_path)
    lake = Lake(settings.lake_root)
    write_probes(lake, DOMAIN)
    for seed, name in enumerate(("none", "full", "full~answers2", "full~answers3", "full~judge2")):
        write_assistant(lake, DOMAIN, name, seed)
    return settings


def rewrite(settings: Settings, assistant: str, inputs: str) -> None:
    """Write the verdicts of an assistant again, with other inputs in their metadata."""
    lake, key = Lake(settings.lake_root), f"{DOMAIN}/{assistant}"
    facts = lake.facts("score.verdicts", key)
    rows = lake.read("score.verdicts", key)
    lake.write("score.verdicts", key, rows, fingerprint="", meta={**facts.meta, INPUTS: inputs})


def scores(settings: Settings):
    lake = Lake(settings.lake_root)
    return leaderboard(settings, lake, Warehouse(lake, "unused.duckdb")).rows


def test_leaderboard_lists_the_first_evaluations_with_the_noise_of_their_repeats(settings: Settings) -> None:
    rows = scores(settings)
    assert {row.assistant for row in rows} == {"none", "full"}
    noisy = [row for row in rows if row.noise is not None]
    assert {row.assistant for row in noisy} == {"full"}
    assert {(row.repeats, row.repeats_of) for row in noisy} == {(3, "answers")}
    assert any(row.noise > 0 for row in noisy)


def test_scores_of_first_evaluations_do_not_change_with_repeats(settings: Settings) -> None:
    lake = Lake(settings.lake_root)
    values = {
        (row.assistant, row.metric, row.slice): (row.value, row.low, row.high, row.n)
        for row in scores(settings)
    }
    for name in ("full~answers2", "full~answers3", "full~judge2"):
        measured_lake.remove_assistant(lake, DOMAIN, name)
    without = scores(settings)
    assert all(row.noise is None for row in without)
    assert values == {
        (row.assistant, row.metric, row.slice): (row.value, row.low, row.high, row.n) for row in without
    }


def test_repeats_of_other_inputs_do_not_count(settings: Settings) -> None:
    catalog = PartitionCatalog(Lake(settings.lake_root), ("score.verdicts",), "answers2")
    assert same_inputs(Lake(settings.lake_root), catalog) == [f"{DOMAIN}/full~answers2"]
    rewrite(settings, "full", "a new model")
    assert same_inputs(Lake(settings.lake_root), catalog) == []
    assert all(row.noise is None for row in scores(settings))
    rewrite(settings, "full~answers3", "a new model")
    assert {row.repeats for row in scores(settings) if row.noise is not None} == {2}
