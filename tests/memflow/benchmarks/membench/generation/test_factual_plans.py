"""Plans of factual kinds: what they ask has one answer, which what they tell gives, in every life."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from membench_generation import life, task_of, tasks
from profiles import examples

from memflow.benchmarks.membench.generation.factual_plans import ASKED, conditions, nodes
from memflow.benchmarks.membench.generation.planning import PLANNERS
from memflow.benchmarks.membench.generation.templates import SUBJECT_TYPES, fact_templates

FACTUAL = (
    "simple",
    "conditional",
    "comparative",
    "aggregative",
    "post_processing",
    "noisy",
    "knowledge_update",
)
SCENES = st.sampled_from(["participation", "observation"])
LANGUAGES = st.sampled_from(["en", "zh"])
SEEDS = st.integers(0, 10**9)


def plans(scene, language, seed, kinds=FACTUAL):
    graph = life(language, seed)
    return [(task, PLANNERS[task.kind.name](task)) for task in tasks(kinds, scene, language, seed, graph)]


def evidence(plan):
    return [plan.talks[talk].beats[beat] for talk, beat in plan.query.evidence]


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_evidence_tells_what_the_graph_has_and_nothing_else_is_gold(scene, language, seed):
    for task, plan in plans(scene, language, seed):
        told = [
            (at, number)
            for at, talk in enumerate(plan.talks)
            for number, beat in enumerate(talk.beats)
            if beat.exposes is not None
        ]
        assert sorted(plan.query.evidence) == told and told
        for beat in evidence(plan):
            node = task.graph.node(beat.exposes["entity"])
            assert node[beat.exposes["attribute"]] == beat.exposes["value"]
            assert beat.exposes["value"].casefold() in beat.user.casefold()


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_what_wordings_have_to_keep_stands_in_the_plain_sentences(scene, language, seed):
    for _, plan in plans(scene, language, seed):
        assert all(keep in plan.query.question for keep in plan.query.keeps) and plan.query.keeps
        for talk in plan.talks:
            for beat in talk.beats:
                assert beat.keeps and all(keep.casefold() in beat.user.casefold() for keep in beat.keeps)


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_wrong_options_are_wrong_and_told_apart(scene, language, seed):
    for _, plan in plans(scene, language, seed):
        wrong = plan.query.wrong
        assert len({plan.query.answer, *wrong}) == 1 + len(wrong)
        if plan.kind.name in ("comparative", "aggregative"):
            assert len(wrong) == 3


@examples(20)
@given(LANGUAGES, SEEDS)
def test_two_who_speak_have_a_session_about_each(language, seed):
    for task, plan in plans("participation", language, seed):
        sort = "people" if task.scenario == "roles" else "events"
        rounds = 20 if sort == "people" else 10
        assert len(plan.talks) == len(nodes(task.graph, sort)) and {talk.rounds for talk in plan.talks} == {
            rounds
        }
        labels = task.vocabulary.labels
        masked = {labels[beat.exposes["attribute"]] for beat in evidence(plan)}
        assert not any(masked & set(talk.context) for talk in plan.talks)
        assert all(len(talk.context) > 2 for talk in plan.talks)


@examples(20)
@given(LANGUAGES, SEEDS)
def test_who_is_asked_about_is_named_by_what_nobody_else_has(language, seed):
    graph = life(language, seed)
    for sort in SUBJECT_TYPES:
        task = task_of("conditional", "roles", graph, language=language)
        held = conditions(task, sort, ASKED[sort])
        assert held
        for node, by, name in held:
            assert by != name and [each for each in nodes(graph, sort) if each[by] == node[by]] == [node]


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_what_is_corrected_was_told_wrongly_before(scene, language, seed):
    for _, plan in plans(scene, language, seed, ("knowledge_update",)):
        [(talk, beat)] = plan.query.evidence
        [stale] = plan.query.wrong
        before = plan.talks[talk].beats[:beat]
        assert [each for each in before if each.keeps[0] == stale and each.exposes is None]
        assert stale != plan.query.answer == plan.talks[talk].beats[beat].exposes["value"]


def test_only_asides_are_put_in_passing():
    for _, plan in plans("observation", "en", 3):
        assert plan.query.aside == (plan.kind.name == "noisy")


@pytest.mark.parametrize("scenario", ["events"])
def test_a_time_is_asked_for_as_a_date(scenario):
    dated = {
        plan.query.evidence and evidence(plan)[-1].exposes["attribute"]: plan.query.dated
        for seed in range(40)
        for plan in [PLANNERS["simple"](task_of("simple", scenario, seed=seed))]
    }
    assert dated == {"location": False, "time": True, "scale": False, "duration": False}


def test_one_who_is_observed_tells_thirteen_attributes_of_one_and_one_of_each_other():
    task = task_of("simple", "roles", scene="observation")
    [talk] = PLANNERS["simple"](task).talks
    assert len(talk.beats) == 13 + 7 and talk.rounds == 0
    about = [beat.keeps[1] for beat in talk.beats]
    assert sorted(map(about.count, set(about))) == [1] * 7 + [13]


def test_evidence_is_spread_over_all_that_is_observed():
    places = {
        PLANNERS["simple"](task_of("simple", "roles", seed=seed, scene="observation")).query.evidence[0][1]
        for seed in range(200)
    }
    assert places == set(range(20))


def test_hybrid_trajectories_ask_about_every_sort_and_tell_of_the_others():
    graph = life(seed=1)
    sorts = {node.entity_id: node.kind.replace("relative", "colleague") for node in graph.nodes}
    asked = set()
    for seed in range(60):
        task = task_of("simple", "hybrid", graph, seed, scene="observation")
        plan = PLANNERS["simple"](task)
        asked.add(sorts[evidence(plan)[0].exposes["entity"]])
    assert asked == {"colleague", "work_event", "rest_event", "item", "place"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_are_sentences_for_all_that_is_told_and_asked(language):
    words = fact_templates(language)
    for sort in SUBJECT_TYPES:
        assert set(ASKED[sort]) <= set(words.of(sort).attributes)
    assert len(words.seasons) == 4 and len(words.months) == 12


def test_plans_depend_on_their_seed_alone():
    one, again = (PLANNERS["noisy"](task_of("noisy", "roles", seed=5)) for _ in range(2))
    assert one == again
    others = [PLANNERS["noisy"](task_of("noisy", "roles", life(), seed)) for seed in range(8)]
    assert any(before != after for before, after in pairwise(others))
