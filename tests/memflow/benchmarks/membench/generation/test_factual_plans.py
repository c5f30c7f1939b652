"""Plans of factual kinds: in every sampled graph, the evidence determines the only answer."""

from hypothesis import given
from hypothesis import strategies as st
from membench_generation import life, task_of, tasks
from profiles import examples

from memflow.benchmarks.membench.generation.planning import PLANNERS

FACTUAL = (
    "simple", "conditional", "comparative", "aggregative", "post_processing", "noisy", "knowledge_update",
)  # fmt: skip
SCENES = st.sampled_from(["participation", "observation"])
LANGUAGES = st.sampled_from(["en", "zh"])
SEEDS = st.integers(0, 10**9)


def plans(scene, language, seed, kinds=FACTUAL):
    graph = life(language, seed)
    return [(task, PLANNERS[task.kind.name](task)) for task in tasks(kinds, scene, language, seed, graph)]


@examples(30)
@given(SCENES, LANGUAGES, SEEDS)
def test_required_words_of_factual_plan_are_in_its_plain_sentences(scene, language, seed):
    for _, plan in plans(scene, language, seed):
        query, sessions = plan.query, plan.sessions
        assert query.required_words and all(word in query.question for word in query.required_words)
        for message in (message for session in sessions for message in session.messages):
            text = message.user.casefold()
            assert message.required_words and all(word.casefold() in text for word in message.required_words)


def test_observation_plan_states_13_attributes_of_target_and_7_of_others():
    task = task_of("simple", "roles", scene="observation")
    [session] = PLANNERS["simple"](task).sessions
    assert len(session.messages) == 13 + 7 and session.rounds == 0
    about = [message.required_words[1] for message in session.messages]
    assert sorted(map(about.count, set(about))) == [1] * 7 + [13]
