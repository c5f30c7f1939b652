import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.metrics.ranges import range_of, share, within


def test_every_metric_has_its_range() -> None:
    assert range_of("criteria") == (1, 10) and range_of("quality") == (1, 5) and range_of("rating") == (0, 5)
    assert range_of("bertscore[roberta-base,L10]") == range_of("reasoning_bertscore") == (-1, 1)
    assert range_of("locomo_f1") == range_of("anything else") == (0, 1)


@pytest.mark.parametrize(
    ("metric", "value", "held"),
    [
        ("quality", 5, True), ("quality", 6, False), ("quality", 0.9, False), ("quality", None, True),
        ("rouge_l", 1.0000001, True), ("rouge_l", 1.1, False), ("cli", -3.5, True), ("fkgl", 40, True),
        ("bertscore[words,L1]", -0.5, True), ("checklist", 0, True),
    ],
)  # fmt: skip
def test_a_value_is_within_or_not(metric: str, value: float | None, held: bool) -> None:
    assert within(metric, value) is held


@given(st.sampled_from([task.metric for task in TASKS.values()]), st.floats(0, 1))
def test_of_a_tasks_metric_a_share_tells_how_far_up_its_range_a_value_is(metric: str, part: float) -> None:
    low, high = range_of(metric)
    assert share(metric, low) == 0 and share(metric, high) == 1
    assert share(metric, low + part * (high - low)) == pytest.approx(part)


def test_of_a_range_without_end_there_is_no_share() -> None:
    assert share("dcrs", 7.3) == 7.3
