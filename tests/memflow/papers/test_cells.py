from dataclasses import replace

import factories
import pytest

from memflow.papers.cells import ABSENT, BEYOND, SCRIPTED, WITHIN, measure
from memflow.papers.files import find_table

RAG, NATIVE, ON, OFF, DIFFERENCE, RANK = 7, 15, 0, 1, 2, 3
"""Rows and columns of AMemGym's Table 2: RAG .227 and .241, the native gpt-4.1-mini .203."""
SCORE = factories.score(
    domain="amemgym_base.published",
    assistant="rag_2_4_30@gpt-4.1-mini",
    memory="rag_2_4_30",
    model="gpt-4.1-mini",
    metric="memory_score",
    value=0.25,
    low=0.22,
    high=0.28,
    scripted=False,
)


def cells(*scores, **options):
    return measure(find_table("amemgym:table2"), scores, lambda view: (), **options).rows


@pytest.mark.parametrize(("low", "verdict"), [(0.22, WITHIN), (0.24, BEYOND), (None, "")])
def test_a_difference_is_judged_by_the_interval(low, verdict):
    cell = cells(replace(SCORE, low=low, high=None if low is None else 0.28))[RAG][ON]
    assert (cell.value, cell.difference, cell.verdict) == (0.25, pytest.approx(0.023), verdict)


@pytest.mark.parametrize(("noise", "verdict"), [(0.001, BEYOND), (0.02, WITHIN)])
def test_a_difference_is_judged_by_the_noise_where_there_are_repeats(noise, verdict):
    repeated = replace(SCORE, noise=noise, noise_degrees=8, repeats=5, repeat_mean=0.26)
    assert cells(repeated)[RAG][ON].verdict == verdict


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"scripted": True}, SCRIPTED),
        ({"domain": "amemgym_base.published~3"}, "of the sample amemgym_base.published~3"),
        ({"incomplete": "12 of 20 users"}, "incomplete: 12 of 20 users"),
        ({"interval_reason": "2 episodes", "low": None}, "no interval: 2 episodes"),
    ],
)
def test_what_differs_stands_at_the_value(fields, mark):
    cell = cells(replace(SCORE, **fields))[RAG][ON]
    assert cell.marks == (mark,)
    assert (cell.difference is None) == (mark == SCRIPTED)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"domain": "amemgym_base"}, ""),
        ({"variant": "per_user_ratio"}, ABSENT),
        ({"metric": "accuracy"}, ABSENT),
        ({"slice": "period 1"}, ABSENT),
    ],
)
def test_another_profile_variant_metric_or_slice_is_not_shown(fields, reason):
    row = cells(replace(SCORE, **fields))[RAG]
    assert [cell.value for cell in row] == [None] * 4
    assert row[ON].reason == reason


def test_the_whole_domain_is_shown_before_samples_and_a_limit_selects_one():
    sample = replace(SCORE, domain="amemgym_base.published~3", value=0.1)
    assert cells(sample, SCORE)[RAG][ON].value == 0.25
    assert cells(sample, SCORE, limit=3)[RAG][ON].value == 0.1
    assert cells(sample, SCORE, limit=2)[RAG][ON].value is None


def test_a_row_of_a_model_has_the_results_of_that_model_alone():
    native = replace(SCORE, memory="full", assistant="full@openai/GPT-4.1-mini", model="openai/GPT-4.1-mini")
    rows = cells(native)
    assert rows[NATIVE][ON].value == 0.25
    assert [row[ON].cell.row for row in rows if row[ON].value is not None] == ["LLM", "gpt-4.1-mini"]
    other = replace(native, model="small", value=0.5)
    assert cells(native, other, model="small")[8][ON].value == 0.5
    assert cells(native, other, model="small")[NATIVE][ON].value == 0.25


def test_a_difference_of_two_cells_has_no_verdict_and_needs_both():
    off = replace(SCORE, domain="amemgym_base_offpolicy.published", value=0.29)
    cell = cells(SCORE, off)[RAG][DIFFERENCE]
    assert (cell.value, cell.verdict) == (pytest.approx(0.04), "")
    assert cells(SCORE)[RAG][DIFFERENCE].reason == "its other part was not run"


def test_a_missing_value_has_its_reason():
    (cell, *_, rank) = cells(replace(SCORE, value=None, low=None, high=None, reason="no scale"))[RAG]
    assert (cell.value, cell.reason) == (None, "no scale")
    assert rank.value is None and rank.cell.fields.unavailable
    faulty = replace(SCORE, health="faulty", health_reason="half of the reads are empty")
    assert cells(faulty)[RAG][ON].reason == "half of the reads are empty"


def test_statistics_of_repeats_stand_beside_those_of_the_paper():
    repeated = replace(
        SCORE,
        memory="full",
        assistant="full@gpt-4.1-mini",
        noise=0.004,
        noise_degrees=4,
        repeats=5,
        repeat_mean=0.2,
        repeat_deviation=0.003,
    )
    (row,) = [
        row for row in measure(find_table("amemgym:table8"), [repeated], lambda view: ()).rows if row[2].value
    ]
    assert [cell.value for cell in row] == [None, None, 0.2, 0.003]
    assert row[2].verdict == WITHIN


def test_a_value_of_another_kind_is_not_compared():
    recall = replace(
        SCORE,
        domain="membench_participation.published",
        memory="retrieval",
        metric="recall_at_10",
        slice="level factual",
        model="Qwen2.5-7B",
    )
    (cell,) = [
        cell for cell in measure(find_table("membench:table3"), [recall], lambda view: ()).cells if cell.value
    ]
    assert cell.difference is None
    assert cell.marks[0].startswith("the published value is of all that a budget of words holds")


GAIN = {
    "domain": "memorybench_open_same.published", "dataset": "locomo", "metric": "locomo_f1", "scripted": False,
    "assistant": "bm25_message@large", "model": "Qwen/Qwen3-8B", "with_feedback": 0.4, "without_feedback": 0.3,
    "difference": 0.1,
}  # fmt: skip


OTHER_CASES = ("the published value is other cases of the data set, so it is not compared",)


def of_view(*records: dict[str, object], **options):
    """Return the cells of BM25-M in Table 17, whose values are those of a view."""
    table = measure(find_table("memorybench:table17"), [], lambda view: records, **options)
    return table.rows[0]


def test_a_cell_of_a_view_has_the_record_of_its_domain_assistant_and_model() -> None:
    other = {**GAIN, "with_feedback": 0.9}
    others = [
        {**other, "assistant": "full@large"}, {**other, "domain": "memorybench_open_same"},
        {**other, "dataset": "dialsim_friends"}, {**other, "model": "mistral"},
        {**other, "domain": "memorybench_open_same.published~2"},
    ]  # fmt: skip
    cells_of_row = of_view(GAIN, *others, model="Qwen3-8B")
    assert [cell.value for cell in cells_of_row] == [0.4, 0.3, 0.1]
    assert (cells_of_row[0].assistant, cells_of_row[0].marks) == ("bm25_message@large", OTHER_CASES)


def test_a_cell_of_a_view_names_the_sample_and_the_scripted_chat() -> None:
    (cell, *_) = of_view({**GAIN, "domain": f"{GAIN['domain']}~2", "scripted": True})
    assert cell.value == 0.4 and cell.difference is None
    assert {"of the sample memorybench_open_same.published~2", SCRIPTED} <= {*cell.marks}
    assert of_view(GAIN, GAIN)[0].value is None
    assert of_view()[0].value is None
    assert of_view(GAIN, limit=3)[0].value is None


def test_a_cell_of_a_view_has_the_value_of_its_record():
    def records(view):
        assert view == "statistics"
        own = {"domain": "amemgym_base~2", "slice": "all", "trajectories": 2, "periods": 22, "sessions": 90}
        return [{**own, "questions": 20, "sessions_per_trajectory": 45.0}, {**own, "slice": "period 1"}]

    (users, *_, turns) = measure(find_table("amemgym:table4"), (), records).rows
    assert (users[0].value, users[0].difference, users[0].marks) == (
        2.0,
        -18.0,
        ("of the sample amemgym_base~2",),
    )
    assert turns[0].difference == pytest.approx(45 - 47.15)
    assert users[1].value is None
