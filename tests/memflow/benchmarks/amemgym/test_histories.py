"""Histories of questions over periods, for memories that ignore or overwrite information."""

from collections import Counter
from typing import Any

from checkpoint_scores import curve, followed

from memflow.records import Probe

STILL, THROUGHOUT = [12, 3, 4, 1], 0
"""Of the demo's 12 questions, those with the gold of period 0 at each period, and those with it at all of them."""


def test_choice_question_has_same_question_id_in_every_period(demo: Any) -> None:
    choices = demo.of_kind("choice")
    assert {probe.question_id for probe in demo.of_kind("state")} == {None}
    assert not any(probe.opens for probe in choices)
    asked: dict[Any, set[str]] = {}
    for probe in choices:
        asked.setdefault(probe.question_id, set()).add(probe.question)
    assert all(len(questions) == 1 for questions in asked.values())
    # 3 users with 4 questions each, after period 0 and 3 more.
    assert Counter(Counter(probe.question_id for probe in choices).values()) == {4: 12}


def test_forgetting_scores_of_demo_questions_match_hand_computed_values(demo: Any, tmp_path: Any) -> None:
    choices = demo.of_kind("choice")
    golds = {(probe.question_id, probe.checkpoint): probe.gold for probe in choices}
    by_question = {
        question: [golds[question, period] for period in range(4)]
        for question in dict.fromkeys(probe.question_id for probe in choices)
    }
    # How many of the 12 questions have the gold of period 0 still, by period.
    still = [sum(gold[period] == gold[0] for gold in by_question.values()) for period in range(4)]
    assert still == STILL

    def ignores_news(probe: Probe) -> float:
        return float(probe.gold == golds.get((probe.question_id, 0)))

    def overwritten(probe: Probe) -> float:
        return float(probe.checkpoint == int(probe.probe_id[-1]))

    found = followed(
        tmp_path,
        demo.domain.name,
        demo.probes,
        {
            "none": lambda probe: 0.0,
            "perfect": lambda probe: 1.0,
            "ignoring": ignores_news,
            "overwritten": overwritten,
        },
    )
    perfect = found["perfect"]
    assert curve(perfect, "accuracy") == [1, 1, 1, 1]
    assert curve(perfect, "forgetting") == [0, 0, 0, 0]
    assert curve(perfect, "forward_transfer") == [1, 0, 0, 0]  # beyond what is guessed
    ignoring = found["ignoring"]
    assert curve(ignoring, "forward_transfer") == [1, 0, 0, 0]
    assert curve(ignoring, "forgetting") == [round(1 - each / 12, 6) for each in STILL]
    assert ignoring["all_correct", "all"].value == THROUGHOUT / 12
    # Each user's question n is right after period n alone.
    lost = found["overwritten"]
    assert curve(lost, "forward_transfer") == [0.25, 0.25, 0.25, 0.25]
    assert curve(lost, "forgetting") == [0, 0.25, 0.5, 0.75]
    assert curve(lost, "backward_transfer") == [0, 0, 0, 0]
    assert (lost["forgetting", "all"].value, lost["all_correct", "all"].value) == (0.75, 0)
    flips = lost["flip_rate", "all"]
    # Of three steps: 1, 2, 2 and 1.
    assert flips.value == 0.5 and (flips.n, flips.n_episodes, flips.coverage) == (12, 3, 1.0)
    assert curve(found["none"], "accuracy") == curve(found["none"], "forgetting") == [0, 0, 0, 0]
