"""Published values of the paper: all are present, and arithmetic proves the listed errors."""

import pytest

from memflow.benchmarks.membench.kinds import COLUMNS, LEVELS, SCENES
from memflow.benchmarks.membench.paper import doubts, published, shares

VALUES = published()


def accuracies(table, mechanism=None):
    return [
        one
        for one in VALUES
        if (one.table, one.measure) == (table, "accuracy") and mechanism in (None, one.mechanism)
    ]


def right(table, mechanism):
    """Return the number of correct answers and of questions in a table, over its kinds."""
    counts = [shares(one.value, one.questions) for one in accuracies(table, mechanism)]
    assert all(len(count) == 1 for count in counts)
    return sum(count[0] for count in counts), sum(one.questions for one in accuracies(table, mechanism))


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


class TestD1:
    def test_two_published_accuracies_of_retrieval_match_no_number_of_questions(self) -> None:
        assert shares(0.883, 280) == [] and shares(0.933, 84) == []
        assert shares(0.883, 60) == [53] and shares(0.933, 15) == [14]
        assert shares(0.833, 30) == [25]

    def test_all_other_published_accuracies_match_their_numbers_of_questions(self) -> None:
        impossible = [one for one in VALUES if one.questions and not shares(one.value, one.questions)]
        assert [(one.table, one.mechanism, one.value, one.doubt) for one in impossible] == [
            (3, "retrieval", 0.883, "D1"),
            (3, "retrieval", 0.933, "D1"),
        ]

    def test_published_values_that_were_truncated_are_marked(self) -> None:
        def rounds(one):
            return any(
                abs(each / one.questions - one.value) <= 0.0005 + 1e-9
                for each in shares(one.value, one.questions)
            )

        unrounded = {one for one in VALUES if one.questions and not rounds(one)}
        assert {one for one in unrounded if one.doubt != "D1"} == {
            one for one in VALUES if one.doubt == "cut"
        }

    def test_published_retrieval_rows_of_tables_3_and_4_are_equal(self) -> None:
        def row(table):
            return [one.value for one in accuracies(table, "retrieval")]

        assert row(3) == row(4) == [0.692, 0.833, 0.883, 0.933]
        assert {one.doubt for one in accuracies(3, "retrieval")} == {"D1"}

    @pytest.mark.parametrize(("table", "listed", "of", "noisy"), [(11, 175, 320, 40), (12, 170, 230, 50)])
    def test_retrieval_accuracies_by_kind_contradict_the_total(self, table, listed, of, noisy) -> None:
        assert right(table, "retrieval") == (listed, of)
        [said] = [
            one for one in accuracies(3, "retrieval") if one.subset == 1 and one.questions == of + noisy
        ]
        assert (listed + noisy) / said.questions < said.value
        low, high = listed / said.questions, (listed + noisy) / said.questions
        assert (round(low, 2), round(high, 2)) == ((0.49, 0.60) if table == 11 else (0.61, 0.79))


def test_published_emotion_question_counts_differ_between_mechanisms() -> None:
    def question_counts(scene):
        shares_by_mechanism = {
            one.mechanism: one.value for one in accuracies(10) if (one.kind, one.scene) == ("emotion", scene)
        }
        return {
            name: [n for n in (15, 17, 27, 34) if shares(value, n)]
            for name, value in shares_by_mechanism.items()
        }

    participation = question_counts("participation")
    assert participation["full"] == [27] and participation["generative_agent"] == [17, 34]
    assert question_counts("observation")["generative_agent"] == [34]


def test_published_times_of_sc_memory_equal_times_of_retrieval() -> None:
    def times(mechanism):
        return [
            one.value
            for one in VALUES
            if one.table == 4 and one.measure != "accuracy" and one.mechanism == mechanism
        ]

    assert times("retrieval") == [0.036, 0.057, 0.026, 0.028]
    assert times("sc_memory") == [0.036, 0.057, 0.025, 0.028]


def test_published_table_11_lacks_40_questions_of_table_3() -> None:
    listed, of = right(11, "full")
    [said] = [one for one in accuracies(3, "full") if one.questions == 360]
    assert (listed, of) == (206, 320) and shares(said.value, 360) == [233] == [listed + 27]
