"""Published values of the paper: all are present, and arithmetic proves the listed errors."""

from memflow.benchmarks.membench.kinds import COLUMNS, LEVELS, SCENES
from memflow.benchmarks.membench.paper import doubts, published

VALUES = published()


def accuracies(table, mechanism=None):
    return [
        one
        for one in VALUES
        if (one.table, one.measure) == (table, "accuracy") and mechanism in (None, one.mechanism)
    ]


def test_published_values_include_every_cell_of_six_membench_tables() -> None:
    count = {table: sum(one.table == table for one in VALUES) for table in (3, 4, 5, 10, 11, 12)}
    # By mechanism: 8 columns, and 4 figures of recall; 8; 8 for 4 mechanisms and 3 models; 4; 8; 6.
    assert count == {3: 7 * 8 + 4, 4: 7 * 8, 5: 8 * 4 * 3, 10: 7 * 4, 11: 7 * 8, 12: 7 * 6}
    for one in VALUES:
        assert one.level in LEVELS and one.scene in SCENES and (one.kind is None or one.kind in COLUMNS)
        assert one.doubt is None or one.doubt in doubts()
        assert one.value == "<0.001" or one.value > 0


def test_published_tables_4_and_5_repeat_values_of_tables_10_and_3() -> None:
    preference_values = {(one.scene, one.mechanism): one.value for one in accuracies(4) if one.subset == 1}
    assert preference_values == {
        (one.scene, one.mechanism): one.value for one in accuracies(10) if one.kind == "preference"
    }
    question_counts = {(one.level, one.scene): one.questions for one in accuracies(5)}
    assert question_counts == {
        (one.level, one.scene): one.questions for one in accuracies(3) + accuracies(4) if one.subset == 1
    }
