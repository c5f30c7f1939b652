"""Efficiency scores: means over operations, or a reason for a missing value."""

import pytest
from factories import metric_context, probe

from memflow.records import Score
from memflow.scoring.catalog import EFFICIENCY
from memflow.scoring.efficiency import OperationSums, efficiency_scores

FIRST = OperationSums(
    assistant="a", episode_id="e", writes=4, write_models_s=2.0, write_own_s=0.4, write_calls=8,
    asked=2, reads=2, read_models_s=1.0, read_own_s=0.2, read_calls=2,
)  # fmt: skip
SECOND = OperationSums(
    assistant="a", episode_id="f", writes=2, write_models_s=0.5, write_own_s=0.1, write_calls=1,
    asked=1, reads=1, read_models_s=0.2, read_own_s=0.1, read_calls=0,
)  # fmt: skip


PROBES = [probe(probe_id=name, episode_id=episode) for name, episode in (("p", "e"), ("q", "e"), ("r", "f"))]


def scores(*rows: OperationSums, **slices: frozenset[str]) -> dict[tuple[str, str], Score]:
    found = efficiency_scores(rows, PROBES, metric_context(memory="rag"), slices)
    return {(each.metric, each.slice): each for each in found}


def test_efficiency_scores_are_mean_times_and_calls_per_operation() -> None:
    found = scores(FIRST, SECOND)
    assert [metric for metric, _ in found] == [each.name for each in EFFICIENCY]
    values = {metric: score.value for (metric, _), score in found.items()}
    assert values == pytest.approx(
        {"write_time": 3.0 / 6, "read_time": 1.5 / 3, "write_calls": 9 / 6, "read_calls": 2 / 3}
    )
    write = found["write_time", "all"]
    assert (write.n, write.n_episodes, write.coverage, write.reason) == (6, 2, 1.0, None)
    assert (write.low, write.interval_reason) == (None, "2 episodes")
    assert found["read_time", "all"].n == 3


def test_efficiency_slice_contains_the_episodes_of_its_probes() -> None:
    found = scores(FIRST, SECOND, one=frozenset({"r"}), other=frozenset({"p", "q"}))
    assert found["write_time", "one"].value == pytest.approx(0.3)
    assert found["write_calls", "other"].value == 2.0
    assert found["write_time", "one"].n_episodes == 1 and found["write_time", "one"].low is None


def test_efficiency_score_of_memory_without_writes_has_a_reason_and_no_value() -> None:
    for rows in ([], [OperationSums(assistant="a", episode_id="e", asked=2, reads=2, read_own_s=1e-6)]):
        for score in scores(*rows).values():
            assert score.value is None
            assert score.reason == "rag has no writes, so its cost cannot be measured"


def test_read_scores_with_low_coverage_have_a_reason_and_no_value() -> None:
    broken = OperationSums(assistant="a", episode_id="g", writes=1, write_own_s=1.0, asked=5, reads=1)
    found = scores(FIRST, broken)
    assert found["read_time", "all"].value is None
    assert found["read_calls", "all"].coverage == 3 / 7
    assert found["read_time", "all"].reason == "3 of 7 reads have a value; a score needs 90%"
    assert found["write_time", "all"].value == pytest.approx(3.4 / 5)
