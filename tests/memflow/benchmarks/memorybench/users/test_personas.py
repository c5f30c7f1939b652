import pytest

from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.memorybench.users.personas import personas
from memflow.benchmarks.memorybench.users.reactions import METRIC_SCORED

SIMULATED = {name for name, task in TASKS.items() if task.metric not in METRIC_SCORED}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_simulated_data_set_has_a_distinct_user_persona(language: str) -> None:
    found = personas(language)
    assert set(found) == SIMULATED
    for part in ("persona", "expertise", "task"):
        assert len({getattr(one, part) for one in found.values()}) == len(found)
    assert len({tuple(one.criteria) for one in found.values()}) == len(found)
    assert all(len(one.criteria) >= 3 for one in found.values())
