"""Reasons that quarantine a published question: one test case per fault, and none for a valid question."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from membench_files import question

from memflow.benchmarks.membench.kinds import find_kind
from memflow.benchmarks.membench.published.questions import PublishedQuestion, choice_question
from memflow.benchmarks.membench.turns import ChoiceQuestion, Step, Trajectory

STEPS = Trajectory(
    trajectory_id="participation/simple/roles/0",
    dataset="d",
    scene="participation",
    kind=find_kind("simple"),
    scenario="roles",
    language="en",
    steps=tuple(Step(f"Step {number}.", "I see.", number // 3) for number in range(6)),
)


def put(targets: Any = (4,), **changes: Any) -> ChoiceQuestion:
    return choice_question(STEPS, PublishedQuestion.model_validate(question(list(targets), **changes)))


@pytest.mark.parametrize(
    ("targets", "changes", "reason"),
    [
        ([4], {"question": "[ERRORQ]"}, "it has [ERRORQ] for its question: its makers failed at it"),
        (
            [4],
            {"question": "[ERRORQ]", "answer": "[ERRORA]", "choices": "[ERRORC]", "ground_truth": ""},
            "it has [ERRORQ] for its question, [ERRORA] for its answer, [ERRORC] for its choices: "
            "its makers failed at it",
        ),
        ([4], {"choices": "[ERRORC]"}, "it has [ERRORC] for its choices: its makers failed at it"),
        (
            [4],
            {"choices": {"A": "60", "B": "61", "C": "61 ", "D": "63"}},
            "its options B and C say the same: 61 ",
        ),
        (
            [4],
            {"choices": {"A": ["x", "y"], "B": "61", "C": ["y", "x"], "D": "63"}},
            "its options A and C say the same: y; x",
        ),
        ([4], {"choices": {"A": "60", "B": "61", "C": "62"}}, "its options are A, B, C, and not A to D"),
        ([4], {"choices": {}}, "its options are none, and not A to D"),
        ([4], {"ground_truth": "E"}, "its gold 'E' is none of its options"),
        ([4], {"ground_truth": ""}, "its gold '' is none of its options"),
        ([4], {"ground_truth": "A"}, "its gold's option is '60', its answer '61'"),
        ([4], {"answer": ["61", "62"]}, "its gold's option is '61', its answer '61; 62'"),
        ([], {}, "it names no step that its answer rests on"),
        ([6], {}, "it rests on step 6, and there are steps 0 to 5"),
        ([0, -1], {}, "it rests on step -1, and there are steps 0 to 5"),
        ([[0, 0], [4, 0]], {}, "it rests on step 4 in session 0, and that step is in session 1"),
        ([[]], {}, "it rests on [], which is neither a step nor a step and its session"),
        ([[1, 0, 2]], {}, "it rests on [1, 0, 2], which is neither a step nor a step and its session"),
    ],
)
def test_invalid_published_question_has_quarantine_reason(targets: Any, changes: dict[str, Any], reason: str):
    assert put(targets, **changes).reason == reason


def test_question_without_target_steps_has_reason_and_null_targets_give_no_evidence():
    without = question([0])
    del without["target_step_id"]
    assert (
        choice_question(STEPS, PublishedQuestion.model_validate(without)).reason
        == "it names no step that its answer rests on"
    )
    assert put().reason is None
    nothing = PublishedQuestion.model_validate({**question([0]), "target_step_id": None})
    assert choice_question(STEPS, nothing).evidence == ()


@given(
    st.permutations(["60", "61", "62", "63"]),
    st.lists(st.integers(0, 5), min_size=1),
)
def test_gold_option_equals_answer_for_any_order_of_options(options: list[str], targets: list[int]):
    choices = dict(zip("ABCD", options, strict=True))
    found = put(targets, choices=choices, ground_truth="ABCD"[options.index("61")])
    assert found.reason is None
    assert found.options[found.gold - 1] == found.answer == "61"
    assert set(found.evidence) == {STEPS.evidence_id(target) for target in targets}
