"""What an operation takes: means over operations, of all episodes and of parts, and none where nothing was written."""

import pytest

from memflow.records import EFFICIENCY, Probe, Score
from memflow.scoring.efficiency import OperationSums, efficiency_scores

FIGURE = Score(
    domain="d", assistant="a", memory="rag", model="m", metric="accuracy", n=4, n_episodes=2, coverage=1.0,
    simulator="s", scripted=False, value=0.5, deviation=0.1,
)  # fmt: skip
FIRST = OperationSums(
    assistant="a", episode_id="e", writes=4, write_models_s=2.0, write_own_s=0.4, write_calls=8,
    asked=2, reads=2, read_models_s=1.0, read_own_s=0.2, read_calls=2,
)  # fmt: skip
SECOND = OperationSums(
    assistant="a", episode_id="f", writes=2, write_models_s=0.5, write_own_s=0.1, write_calls=1,
    asked=1, reads=1, read_models_s=0.2, read_own_s=0.1, read_calls=0,
)  # fmt: skip


def probe(name: str, episode: str) -> Probe:
    return Probe(
        domain="d", probe_id=name, episode_id=episode, checkpoint=0, kind="choice", dataset="s", metric="accuracy",
        question="?", options=[], variables=[], gold="1", revealed="g", evidence=[],
    )  # fmt: skip


PROBES = [probe("p", "e"), probe("q", "e"), probe("r", "f")]


def figures(*rows: OperationSums, **parts: frozenset[str]) -> dict[tuple[str, str], Score]:
    found = efficiency_scores(rows, PROBES, FIGURE, 0, parts)
    return {(figure.metric, figure.slice): figure for figure in found}


def test_times_and_calls_are_means_over_operations() -> None:
    found = figures(FIRST, SECOND)
    assert [metric for metric, _ in found] == [*EFFICIENCY]
    values = {metric: figure.value for (metric, _), figure in found.items()}
    assert values == pytest.approx(
        {"write_time": 3.0 / 6, "read_time": 1.5 / 3, "write_calls": 9 / 6, "read_calls": 2 / 3}
    )
    write = found["write_time", "all"]
    assert (write.n, write.n_episodes, write.coverage, write.reason, write.deviation) == (
        6,
        2,
        1.0,
        None,
        None,
    )
    assert write.low is not None and write.high is not None
    assert 0.3 <= write.low <= 0.5 <= write.high <= 0.6  # between the episodes' own means
    assert found["read_time", "all"].n == 3


def test_a_part_is_the_episodes_of_its_probes() -> None:
    found = figures(FIRST, SECOND, one=frozenset({"r"}), other=frozenset({"p", "q"}))
    assert found["write_time", "one"].value == pytest.approx(0.3)
    assert found["write_calls", "other"].value == 2.0
    assert found["write_time", "one"].n_episodes == 1 and found["write_time", "one"].low is None


def test_where_nothing_is_written_there_is_no_figure_but_a_reason() -> None:
    for rows in ([], [OperationSums(assistant="a", episode_id="e", asked=2, reads=2, read_own_s=1e-6)]):
        for figure in figures(*rows).values():
            assert figure.value is None
            assert figure.reason == "nothing was written to rag here: there is nothing to measure"


def test_reads_that_failed_leave_no_figure_where_they_are_many() -> None:
    broken = OperationSums(assistant="a", episode_id="g", writes=1, write_own_s=1.0, asked=5, reads=1)
    found = figures(FIRST, broken)
    assert found["read_time", "all"].value is None
    assert found["read_calls", "all"].coverage == 3 / 7
    assert found["read_time", "all"].reason == "3 of 7 reads were measured: see the reasons in answer.replies"
    assert found["write_time", "all"].value == pytest.approx(3.4 / 5)
