"""What is asked of a preference: nobody says it, and one category alone is seen from what is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from membench_generation import preference_task

from memflow.benchmarks.membench.generation.preference_plans import highlevel, highlevel_rec
from memflow.benchmarks.membench.wording import says

SEEDS = st.integers(0, 2**32)
LANGUAGE = st.sampled_from(["en", "zh"])
TOPIC = st.sampled_from(["movie", "food", "book"])
SCENE = st.sampled_from(["participation", "observation"])


def category_of(task, item: str) -> str:
    """The one category that an item is in."""
    [name] = [name for name, items in task.categories(task.scenario).items() if item in items]
    return name


def evidence(plan):
    return [plan.talks[talk].beats[beat] for talk, beat in plan.query.evidence]


def check(task, plan):
    """What holds of every plan of a preference."""
    answer = plan.query.answer
    assert answer == task.graph.user.attributes[task.scenario]
    assert len({answer, *plan.query.wrong}) == 4 and set(plan.query.wrong) < set(
        task.categories(task.scenario)
    )
    items = [beat.keeps[0] for beat in evidence(plan)]
    assert 3 <= len(items) == len(set(items)) <= 5
    assert {category_of(task, item) for item in items} == {answer}
    for beat in evidence(plan):
        assert beat.keeps[0] in beat.user
        assert beat.exposes == {
            "entity": task.scenario,
            "attribute": "liked",
            "value": beat.keeps[0],
            "category": answer,
        }
    for talk in plan.talks:
        assert talk.avoids == (answer,) and len(talk.fillers) == len(talk.beats)
        for beat in talk.beats:
            assert not says(beat.user, answer) and not says(beat.assistant or "", answer)


@given(seed=SEEDS, language=LANGUAGE, topic=TOPIC, scene=SCENE)
def test_a_preference_is_seen_from_a_chain_of_likings(seed, language, topic, scene):
    of = preference_task("highlevel", topic, language, seed, scene=scene)
    plan = highlevel(of)
    check(of, plan)
    [talk] = plan.talks
    assert [beat.user for beat in talk.beats] == [beat.user for beat in evidence(plan)]
    items = [beat.keeps[0] for beat in talk.beats]
    for before, beat in zip(items, talk.beats[1:], strict=False):
        assert before in beat.user
    assert all((1 if scene == "observation" else 2) <= fillers <= 4 for fillers in talk.fillers)


@given(seed=SEEDS, language=LANGUAGE, topic=TOPIC)
def test_a_preference_is_seen_from_what_is_taken_and_rejected(seed, language, topic):
    of = preference_task("highlevel_rec", topic, language, seed)
    plan = highlevel_rec(of)
    check(of, plan)
    told = [talk.beats[-1].keeps[0] for talk in plan.talks]
    liked = [beat.keeps[0] for beat in evidence(plan)]
    assert told[0] == liked[0] and len(told) == len(set(told)) == len(liked) + 3
    rejected = [item for item in told if item not in liked]
    assert {category_of(of, item) for item in rejected} == set(plan.query.wrong)
    for talk in plan.talks:
        *asked, said = talk.beats
        assert (said.exposes is not None) == (said.keeps[0] in liked)
        assert said.assistant is None and len(asked) <= 1 and talk.fillers[:-1] == (0,) * len(asked)
        for beat in asked:
            assert beat.exposes is None and said.keeps[0] in (beat.assistant or "")


def test_three_items_in_ten_are_stated_and_the_others_recommended_first():
    talks = [
        talk
        for seed in range(200)
        for talk in highlevel_rec(preference_task("highlevel_rec", seed=seed)).talks
    ]
    share = sum(len(talk.beats) == 1 for talk in talks) / len(talks)
    assert share == pytest.approx(0.3, abs=0.04)


def test_the_second_is_no_more_often_liked_than_by_chance():
    liked = [
        (1, 0)
        in (plan := highlevel_rec(preference_task("highlevel_rec", seed=seed, items=(3, 3)))).query.evidence
        or (1, 1) in plan.query.evidence
        for seed in range(400)
    ]
    assert sum(liked) / len(liked) == pytest.approx(2 / 5, abs=0.08)


@pytest.mark.parametrize("topic", ["movie", "food", "book"])
@pytest.mark.parametrize("make", [highlevel, highlevel_rec])
def test_the_question_asks_for_what_was_spoken_of(make, topic):
    question = make(preference_task(make.__name__, topic)).query.question
    noun = {"movie": "movies", "food": "dishes", "book": "books"}
    assert [name for name in noun if noun[name] in question] == [topic]
