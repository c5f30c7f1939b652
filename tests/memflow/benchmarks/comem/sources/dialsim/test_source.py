"""Conversion of DialSim's files to contexts: the pickle."""

import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from memflow.benchmarks.comem.contexts import Context
from memflow.records import Record

Read = Callable[[Mapping[str, bytes]], list[Record]]
Made = Callable[..., list[Context]]

PICKLE = "dialsim/friends_dialsim.pickle"


def quiz(
    words: str, answer: str = "Ann", options: tuple[str, ...] = ("Ann", "Bo", "Cy", "Rome"), **by: str
) -> Any:
    return {
        "questions": {"default": words, **by},
        "options": [*options, "I don't know."],
        "answer": answer,
    }


def scene(date: str, script: str, hard: Any = None, easy: Any = None) -> dict[str, Any]:
    return {"date": date, "script": script, "hard_q": hard or {}, "easy_q": easy or {}}


EPISODES: dict[str, dict[int, Any]] = {
    "S01E02 The Boat.txt": {
        1: scene(
            "May 9, 1995",
            "Story: by nobody\nAnn: A boat!\nTeleplay: by nobody\nand on it goes.\nRoss: Whose boat?",
            {"past": [quiz("Who had a kite?", "ann", Ross="Hey, who had a kite?"), quiz("", "Bo")], "fu": []},
            {"ans_wo_time": {7: quiz("Whose boat is it?", "Dee")}},
        ),
        2: scene("a day in May", "Bo: It is mine.\nRoss: Oh."),
    },
    "S01E01 The Kite.txt": {
        1: scene("May 12, 1995", "Ann: I bought a kite.\nBo: Did you?"),
        2: scene("May 1, 1995", "Cy: It flies,\nit flies."),
    },
    "S02E01 The Storm.txt": {1: scene("May 2, 1994", "Ann: It rains.")},
}
"""Two seasons: an episode out of order, a day out of order, one that is none, and a flash-back."""


@pytest.fixture
def pickled(read: Read) -> list[Record]:
    return read({PICKLE: pickle.dumps(EPISODES)})


def test_each_season_of_pickle_becomes_a_context_ordered_by_date(pickled: list[Record], made: Made):
    first, second = made(pickled)
    assert (first.context_id, second.context_id) == ("friends_s01", "friends_s02")
    assert [(line.session, line.sent_at, line.speaker, line.text) for line in first.messages] == [
        (2, "May 1, 1995", "Cy", "It flies,\nit flies."),
        (3, "May 9, 1995", "Ann", "A boat!\nand on it goes."),
        (3, "May 9, 1995", "Ross", "Whose boat?"),
        # Its day cannot be read: it plays when the scene before it does.
        (4, "a day in May", "Bo", "It is mine."),
        (4, "a day in May", "Ross", "Oh."),
        (1, "May 12, 1995", "Ann", "I bought a kite."),
        (1, "May 12, 1995", "Bo", "Did you?"),
    ]
    assert {line.role for line in first.messages} == {"user"} and first.dataset == "comem_friends"
    assert [line.text for line in second.messages] == ["It rains."]


def test_published_dialsim_questions_keep_options_answers_and_dates(pickled: list[Record], made: Made):
    first, second = made(pickled, keys="published", per_scene=0)
    by_id = {asked.question_id: asked for asked in first.questions}
    assert set(by_id) == {"S01E02.1.past.0", "S01E02.1.ans_wo_time.7"} and not second.questions
    past = by_id["S01E02.1.past.0"]
    assert (past.question, past.category, past.answer, past.asked_at) == (
        "Who had a kite?",
        "past",
        1,
        "May 9, 1995",
    )
    assert past.options == ("Ann", "Bo", "Cy", "Rome", "I don't know.")
    assert past.reason is None
    # Three messages have been said by the end of its scene, by their days.
    assert past.end == 3 and past.known == ()
    assert by_id["S01E02.1.ans_wo_time.7"].reason == "its answer 'Dee' is not an option"
