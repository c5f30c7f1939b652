"""Primary scores of one partition of verdicts: those of the leaderboard, where these need no other assistant."""

from pathlib import Path

import pytest
from measured_lake import ASSISTANTS, DOMAINS, settings_of, write_assistant, write_probes

from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.leaderboard import leaderboard
from memflow.resources.publishing.partition_scores import partition_scores, published_primary_scores
from memflow.resources.publishing.warehouse import Warehouse


@pytest.mark.parametrize("name", DOMAINS)
def test_scores_of_a_partition_equal_those_of_the_leaderboard(tmp_path: Path, name: str) -> None:
    settings = settings_of(tmp_path)
    lake = Lake(settings.lake_root)
    warehouse = Warehouse(lake, settings.warehouse_path)
    write_probes(lake, name)
    for seed, assistant in enumerate(ASSISTANTS):
        write_assistant(lake, name, assistant, seed)
    lake.write("score.leaderboard", "all", leaderboard(settings, lake, warehouse).rows, fingerprint="")
    published = {(each.assistant, each.metric): each for each in published_primary_scores(settings, lake)}

    found = [
        score
        for assistant in ASSISTANTS
        for score in partition_scores(settings.domain(name), assistant, lake, warehouse)
        if score.value is not None
    ]
    own = {"accuracy", "locomo_f1"}
    assert {(score.assistant, score.metric) for score in found if score.metric in own} == {
        key for key, score in published.items() if score.value is not None and score.metric in own
    }
    for score in found:
        same = published[score.assistant, score.metric]
        assert (score.value, score.low, score.high, score.n) == (same.value, same.low, same.high, same.n)
