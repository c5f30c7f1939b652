"""Plans of factual kinds: in every sampled graph, the evidence determines the only answer."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from membench_generation import life, task_of, tasks
from profiles import examples

from memflow.benchmarks.membench.generation.factual_plans import (
    ASKABLE_ATTRIBUTES,
    find_conditions,
    nodes_of_type,
)
from memflow.benchmarks.membench.generation.planning import PLANNERS
from memflow.benchmarks.membench.generation.templates import SUBJECT_TYPES, fact_templates

FACTUAL = (
    "simple", "conditional", "comparative", "aggregative", "post_processing", "noisy", "knowledge_update",
)  # fmt: skip
SCENES = st.sampled_from(["participation", "observation"])
LANGUAGES = st.sampled_from(["en", "zh"])
SEEDS = st.integers(0, 10**9)


def plans(scene, language, seed, kinds=FACTUAL):
    graph = life(language, seed)
    return [(task, PLANNERS[task.kind.name](task)) for task in tasks(kinds, scene, language, seed, graph)]


def evidence(plan):
    return [plan.sessions[session].messages[message] for session, message in plan.query.evidence]


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_evidence_values_match_user_graph_and_only_evidence_has_gold(scene, language, seed):
    for task, plan in plans(scene, language, seed):
        exposing = [
            (at, number)
            for at, session in enumerate(plan.sessions)
            for number, message in enumerate(session.messages)
            if message.exposes is not None
        ]
        assert sorted(plan.query.evidence) == exposing and exposing
        for message in evidence(plan):
            node = task.graph.node(message.exposes["entity"])
            assert node[message.exposes["attribute"]] == message.exposes["value"]
            assert message.exposes["value"].casefold() in message.user.casefold()


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_required_words_of_factual_plan_are_in_its_plain_sentences(scene, language, seed):
    for _, plan in plans(scene, language, seed):
        query, sessions = plan.query, plan.sessions
        assert query.required_words and all(word in query.question for word in query.required_words)
        for message in (message for session in sessions for message in session.messages):
            text = message.user.casefold()
            assert message.required_words and all(word.casefold() in text for word in message.required_words)


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_wrong_options_of_factual_plan_are_distinct_and_differ_from_gold(scene, language, seed):
    for _, plan in plans(scene, language, seed):
        wrong = plan.query.wrong
        assert len({plan.query.answer, *wrong}) == 1 + len(wrong)
        if plan.kind.name in ("comparative", "aggregative"):
            assert len(wrong) == 3


@examples(20)
@given(LANGUAGES, SEEDS)
def test_participation_plan_has_one_session_per_person_or_event(language, seed):
    for task, plan in plans("participation", language, seed):
        sort = "people" if task.scenario == "roles" else "events"
        rounds = 20 if sort == "people" else 10
        assert len(plan.sessions) == len(nodes_of_type(task.graph, sort))
        assert {session.rounds for session in plan.sessions} == {rounds}
        labels = task.vocabulary.labels
        masked = {labels[message.exposes["attribute"]] for message in evidence(plan)}
        assert not any(masked & set(session.context) for session in plan.sessions)
        assert all(len(session.context) > 2 for session in plan.sessions)


@examples(20)
@given(LANGUAGES, SEEDS)
def test_condition_of_conditional_question_identifies_one_entity(language, seed):
    graph = life(language, seed)
    for sort in SUBJECT_TYPES:
        task = task_of("conditional", "roles", graph, language=language)
        conditions = find_conditions(task, sort, ASKABLE_ATTRIBUTES[sort])
        assert conditions
        for node, by, name in conditions:
            assert by != name
            assert [each for each in nodes_of_type(graph, sort) if each[by] == node[by]] == [node]


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_knowledge_update_plan_states_wrong_value_before_correction(scene, language, seed):
    for _, plan in plans(scene, language, seed, ("knowledge_update",)):
        [(session, message)] = plan.query.evidence
        [stale] = plan.query.wrong
        before = plan.sessions[session].messages[:message]
        assert [each for each in before if each.required_words[0] == stale and each.exposes is None]
        assert plan.query.stale == stale
        assert stale != plan.query.answer == plan.sessions[session].messages[message].exposes["value"]


def test_only_plans_of_noisy_questions_have_an_aside():
    for _, plan in plans("observation", "en", 3):
        assert plan.query.aside == (plan.kind.name == "noisy")


def test_only_questions_about_event_times_have_a_date_answer():
    dated = {
        plan.query.evidence and evidence(plan)[-1].exposes["attribute"]: plan.query.dated
        for seed in range(40)
        for plan in [PLANNERS["simple"](task_of("simple", "events", seed=seed))]
    }
    assert dated == {"location": False, "time": True, "scale": False, "duration": False}


def test_observation_plan_states_13_attributes_of_target_and_7_of_others():
    task = task_of("simple", "roles", scene="observation")
    [session] = PLANNERS["simple"](task).sessions
    assert len(session.messages) == 13 + 7 and session.rounds == 0
    about = [message.required_words[1] for message in session.messages]
    assert sorted(map(about.count, set(about))) == [1] * 7 + [13]


def test_evidence_positions_over_200_seeds_cover_all_observed_messages():
    places = {
        PLANNERS["simple"](task_of("simple", "roles", seed=seed, scene="observation")).query.evidence[0][1]
        for seed in range(200)
    }
    assert places == set(range(20))


def test_hybrid_plans_over_60_seeds_cover_all_subject_types():
    graph = life(seed=1)
    sorts = {node.entity_id: node.kind.replace("relative", "colleague") for node in graph.nodes}
    asked = set()
    for seed in range(60):
        task = task_of("simple", "hybrid", graph, seed, scene="observation")
        plan = PLANNERS["simple"](task)
        asked.add(sorts[evidence(plan)[0].exposes["entity"]])
    assert asked == {"colleague", "work_event", "rest_event", "item", "place"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_fact_templates_exist_for_all_attributes_in_questions(language):
    words = fact_templates(language)
    for sort in SUBJECT_TYPES:
        assert set(ASKABLE_ATTRIBUTES[sort]) <= set(words.of(sort).attributes)
    assert len(words.seasons) == 4 and len(words.months) == 12


def test_factual_plan_is_equal_for_same_seed_and_differs_for_other_seeds():
    one, again = (PLANNERS["noisy"](task_of("noisy", "roles", seed=5)) for _ in range(2))
    assert one == again
    others = [PLANNERS["noisy"](task_of("noisy", "roles", life(), seed)) for seed in range(8)]
    assert any(before != after for before, after in pairwise(others))
