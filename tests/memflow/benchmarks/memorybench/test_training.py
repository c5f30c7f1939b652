"""Training examples from liked and copied first answers, and the reasons for omitted examples."""

from typing import Any

import factories

from memflow.benchmarks.memorybench.question import full_question
from memflow.benchmarks.memorybench.training import training_set
from memflow.records import FeedbackRound, Probe

QUESTION = "How do I write to the court?"


def probe(case: str, **changes: Any) -> Probe:
    values = {
        "metric": "rouge_l",
        "gold": "never shown",
        "split": "train",
        "dataset": "sample_open",
        **changes,
    }
    return factories.probe(
        probe_id=case, episode_id="dialogues", kind="open", **{"question": QUESTION, **values}
    )


def row(case: str, **changes: Any) -> FeedbackRound:
    values = {"answer": f"Thus, {case}.", "dataset": "sample_open", "user_text": QUESTION, **changes}
    return factories.feedback_round(case_id=case, episode_id="dialogues", **values)


def test_liked_or_copied_first_answers_become_training_examples() -> None:
    rows = [
        row("b", liked=True),
        row("a", copied=True, disliked=True),
        row("c"),
        row("c", round=1, liked=True, copied=True),
    ]
    probes = [probe(case) for case in "abc"]
    [liked] = training_set(rows, probes, "like").examples
    assert liked["case_id"] == "b"
    assert [message["role"] for message in liked["prompt"]] == ["system", "user"]
    assert liked["prompt"][-1]["content"] == full_question(probes[1]) == QUESTION
    assert liked["completion"] == [{"role": "assistant", "content": "Thus, b."}]
    assert [example["case_id"] for example in training_set(rows, probes, "copy").examples] == ["a"]


def test_unusable_liked_answer_is_excluded_from_training_with_reason() -> None:
    rows = [
        row("a", liked=True),
        row("b", liked=True, reason="no feedback on b: no answer"),
        row("c", liked=True, answer=" \n"),
        row("d", liked=True, dataset="sample_legal"),
        row("e", liked=True),
        row("f", reason="no answer", answer=""),
    ]
    probes = [*(probe(case) for case in "abcf"), probe("e", reason="no variant was accepted")]
    learned = training_set(rows, probes, "like")
    assert {case["case_id"]: case["reason"] for case in learned.excluded} == {
        "b": "the feedback row is quarantined: no feedback on b: no answer",
        "c": "the answer is empty",
        "d": "question.probes does not contain the case as a training case",
        "e": "the probe is quarantined: no variant was accepted",
    }
    assert learned.counts == [("sample_legal", 1, 0, 1), ("sample_open", 5, 1, 3)]


def test_training_examples_contain_no_gold() -> None:
    learned = training_set([row("a", liked=True)], [probe("a", revealed="never shown either")], "like")
    assert "never shown" not in str(learned.examples[0])
