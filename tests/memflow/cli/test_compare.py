"""`memflow compare`: operands, sentences, notes and errors."""

from dataclasses import replace

import pytest
from factories import comparison

from memflow.chat.scripted import LABEL
from memflow.cli.comparison_text import family_note, power_note, sentence
from memflow.errors import BadInput
from memflow.operations.operands import Operand, parse_operand


def test_compare_shows_difference_interval_slices_and_label(measured) -> None:
    shown = measured("compare", "oracle", "none").stdout
    assert "oracle and none cannot be told apart in accuracy" in shown
    assert "accuracy by slice" in shown and "period 1" in shown
    assert "accuracy cannot be significant with 1 episode and 1 comparison" in " ".join(shown.split())
    assert "Adjusted p: Holm, for each domain" in shown or "there is no test" in shown
    assert LABEL in shown
    found = measured.json("compare", "oracle", "none")
    [domain] = found["domains"]
    assert found["label"] == LABEL
    [row] = [row for row in domain["comparisons"] if (row["metric"], row["slice"]) == ("accuracy", "all")]
    assert row["difference"] == pytest.approx(row["value_a"] - row["value_b"])


def test_compare_of_a_checkpoint_has_its_questions_alone(measured) -> None:
    [domain] = measured.json("compare", "oracle", "none", "--checkpoint", "1")["domains"]
    assert domain["domain"].endswith(", checkpoint 1")
    [row] = [row for row in domain["comparisons"] if (row["metric"], row["slice"]) == ("accuracy", "all")]
    probes = measured.json(
        "sql", "select count(*) n from question.probes where checkpoint = 1 and kind = 'choice'"
    )
    assert row["n"] == probes[0]["n"]


def test_csv_of_compare_has_one_row_per_metric_and_slice(measured) -> None:
    rows = measured.csv("compare", "oracle", "none")
    assert len({(row["metric"], row["slice"]) for row in rows}) == len(rows) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["oracle", "non"], "Did you mean none"),
        (["oracle", "none", "--domain", "amemgym_dem"], "Did you mean amemgym_demo"),
        (["oracle", "none", "--metric", "accurac"], "Did you mean accuracy"),
        (["oracle"], "at least two different operands"),
        (["oracle", "oracle"], "at least two different operands"),
        (["oracle", "none", "oracle"], "has the operand oracle twice. Name each operand once."),
        (["oracle", "none=yesterday"], "'yesterday' is no moment"),
        (["oracle", "none=99"], "there is no publication 99"),
        (["oracle", "none", "--as-of", "2020-01-01"], "the lake contained nothing at"),
        (["oracle", "amemgym_demo/"], "is no assistant to compare"),
        (["oracle", "none", "--checkpoint", "99"], "no common question at checkpoint 99. Choose one of 0, 1"),
    ],
)
def test_compare_rejects_unknown_names_and_invalid_operands(measured, arguments, message) -> None:
    ended = measured("compare", *arguments)
    assert ended.exit_code == 1
    assert message in ended.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("full", Operand("full")),
        ("full@large", Operand("full@large")),
        ("amemgym_base.published~2/full@x", Operand("full@x", "amemgym_base.published~2")),
        ("d/full:judge_x=2026-11-20T09:00+00:00", Operand("full", "d", "judge_x", "2026-11-20T09:00+00:00")),
    ],
)
def test_operand_has_domain_assistant_variant_and_moment(text: str, expected: Operand) -> None:
    assert parse_operand(text) == expected
    assert parse_operand(text).label == text


@pytest.mark.parametrize("text", ["", "/full", "full:", "full=", "d/"])
def test_invalid_operand_is_rejected(text: str) -> None:
    with pytest.raises(BadInput):
        parse_operand(text)


ROW = comparison(
    a="full", b="none", value_a=0.25, value_b=0.5, difference=-0.25, low=-0.4, high=-0.1, p=0.01, p_adjusted=0.02,
    n=480, n_episodes=12, better="b",
)  # fmt: skip


def test_sentence_names_the_better_assistant_with_a_positive_difference() -> None:
    assert sentence(ROW) == (
        "none is better than full by 0.250 [0.100, 0.400] in accuracy (480 pairs in 12 episodes, adjusted p = 0.020)."
    )
    assert power_note(ROW) is None


def test_open_comparison_states_how_many_episodes_would_settle_it() -> None:
    still_open = replace(
        ROW,
        better=None,
        p_adjusted=0.2,
        low=-0.6,
        family=3,
        episodes_needed=31,
        episodes_needed_low=12,
        episodes_needed_high=100_000,
    )
    assert sentence(still_open).startswith("full and none cannot be told apart in accuracy: A - B is -0.250")
    assert power_note(still_open) == (
        "accuracy: 80 % of studies with 31 episodes (12 to more than 100,000) would find a difference like this one."
    )


def test_family_of_adjusted_p_values_is_declared() -> None:
    rows = [replace(ROW, family=2), replace(ROW, slice="period 1", family=6)]
    assert family_note(rows) == (
        "Adjusted p: Holm, for each domain and metric over 2 comparisons over all probes (pairs), and over 6 "
        "comparisons by slice (slices x pairs)."
    )
