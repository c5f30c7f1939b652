"""Emotion plans: no message names the mood, and the messages of a mood are consecutive."""

from hypothesis import given
from hypothesis import strategies as st
from membench_generation import preference_task

from memflow.benchmarks.membench.generation.emotion_plans import emotion_templates
from memflow.benchmarks.membench.generation.preference_plans import plan_preference


@given(
    seed=st.integers(0, 2**32),
    language=st.sampled_from(["en", "zh"]),
    scene=st.sampled_from(["participation", "observation"]),
)
def test_emotion_plan_has_evidence_in_one_session_and_options_unlike_the_answer_mood(seed, language, scene):
    plan = plan_preference(preference_task("highlevel", "emotion", language, seed, scene=scene))
    templates = {mood.mood: mood for mood in emotion_templates(language).moods}
    mood = templates[plan.query.answer]
    session, other = sorted(plan.sessions, key=lambda each: each.messages[0].exposes is None)
    happening, *remarks = session.messages
    assert 3 <= len(remarks) <= 5
    assert {message.user for message in remarks} <= set(mood.remarks)
    asked = plan.query.question.casefold()
    assert happening.user.rstrip(".。").casefold() in asked
    assert other.messages[0].user.rstrip(".。").casefold() not in asked
    assert all(message.exposes and message.exposes["value"] == mood.mood for message in session.messages)
    assert not any(message.exposes for message in other.messages)
    assert (
        session.forbidden_words == mood.named and set(session.fillers[:-1]) == {0} and session.fillers[-1] > 0
    )
    assert len({plan.query.answer, *plan.query.wrong}) == 4
    assert not set(plan.query.wrong) & set(mood.near)
    assert all(mood.mood not in templates[name].near for name in plan.query.wrong)
    beside = next(name for name in templates if other.messages[1].user in templates[name].remarks)
    assert beside in plan.query.wrong
