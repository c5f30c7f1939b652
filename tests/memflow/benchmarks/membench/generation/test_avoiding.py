"""Words that nobody is to say: a wording that says one is asked for again, and is quarantined where it stays."""

from dataclasses import replace

import pytest

from memflow.benchmarks.membench.answers import ToldMessage, ToldRound
from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation.dialogues import find_forbidden_words, word_trajectory
from memflow.benchmarks.membench.generation.layout import lay_out
from memflow.benchmarks.membench.wording import add_stamp, contains_word, strip_stamp

START = Parameters().start


def avoiding(plan, *words: str):
    return replace(plan, sessions=tuple(replace(session, forbidden_words=words) for session in plan.sessions))


async def told(plan, chat):
    return await word_trajectory(plan, lay_out(plan, "made", START, 1), ["Boston"], 1, chat)


def test_contains_word_matches_whole_words_in_any_case():
    assert contains_word("I love Comedy, always.", "comedy") and contains_word("A sci-fi night", "Sci-Fi")
    assert not contains_word("That was a comedian.", "comedy") and not contains_word(
        "It is warm here.", "War"
    )
    assert contains_word("我喜欢喜剧片。", "喜剧片") and not contains_word("我喜欢喜剧。", "喜剧片")
    assert find_forbidden_words("It is warm.", ("cold", "war")) is None
    assert find_forbidden_words("I am sad and so alone.", ("sad", "alone", "lost")) == (
        'these words must not stand in it: "sad", "alone"'
    )


@pytest.mark.parametrize(("place", "language"), [("Boston, MA", "en"), ("北京", "zh")])
def test_strip_stamp_reverts_add_stamp(place, language):
    assert strip_stamp(add_stamp("A (small) thing.", place, "'now'", language)) == "A (small) thing."
    assert strip_stamp("A (small) thing.") == "A (small) thing."


async def test_wording_with_forbidden_word_is_retried(planned, simulator):
    asked = []

    def telling(request):
        asked.append(request)
        text = "Chess! It is so sad." if request.attempt == 0 else request.fields["said"]
        return ToldRound(user=text, assistant="I see.")

    trajectory = await told(avoiding(planned(fillers=(0, 0)), "sad"), simulator(told=telling))
    assert trajectory.reason is None
    assert not any("sad" in step.user for step in trajectory.steps)
    assert all('"sad"' in request.fields["avoids"] for request in asked)
    assert {request.attempt for request in asked} == {0, 1}


async def test_forbidden_words_apply_to_assistant(planned, simulator):
    def telling(request):
        return ToldRound(user=request.fields["said"], assistant="How sad.")

    trajectory = await told(avoiding(planned(fillers=(0, 0)), "sad"), simulator(told=telling))
    assert 'must not stand in it: "sad"' in (trajectory.reason or "")


async def test_forbidden_words_apply_to_observation(planned, simulator):
    def telling(request):
        return ToldMessage(text=f"{request.fields['said']} So sad.")

    plan = avoiding(planned(scene="observation", fillers=(0, 0)), "sad")
    trajectory = await told(plan, simulator(told_alone=telling))
    assert 'must not stand in it: "sad"' in (trajectory.reason or "")
