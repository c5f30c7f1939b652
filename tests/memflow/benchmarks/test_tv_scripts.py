"""Parsing of TV scripts that were shortened by hand. The benchmarks' readers have tests in their folders."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks import registry
from memflow.benchmarks.published_file import File
from memflow.benchmarks.tv_scripts import Utterance, pickled, scripts, utterances
from memflow.errors import BadInput


def file(content: bytes) -> File:
    return File(registry.datasets()["dialsim_friends"], "dialsim/friends_dialsim.pickle", content)


def test_script_line_without_speaker_continues_previous_utterance():
    said = utterances("nobody yet\nAnn: One: two.\n\nthree\nBo:\nCy: \nfour")
    assert said == (Utterance(2, "Ann", "One: two.\nthree"), Utterance(6, "Cy", "four"))


def test_tv_script_is_split_into_sessions_at_date_headings():
    text = (
        "[Date: May 1, 1994, Session #1]\r\n\r\nAnn: Hi.\r\n[Date: May 2, 1994, Session #9] \r\nBo: Oh.\r\n"
    )
    found = [(script.session, script.date, script.utterances()) for script in scripts(text)]
    assert found == [
        (1, "May 1, 1994", (Utterance(1, "Ann", "Hi."),)),
        (9, "May 2, 1994", (Utterance(1, "Bo", "Oh."),)),
    ]


@given(st.text())
def test_tv_script_parser_parses_any_text_or_raises_value_error(text: str):
    try:
        assert all(script.utterances() for script in scripts(text))
    except ValueError as refused:
        assert "first line" in str(refused) or "session" in str(refused)


def test_pickled_tv_script_is_read_as_scenes_with_episode_and_number():
    content = pickle.dumps({"E1": {1: "a", 2: "b"}, "E2": {1: "c"}})
    found = [(raw.record_id, raw.content) for raw in pickled(file(content))]
    assert found == [("E1, scene 1", "a"), ("E1, scene 2", "b"), ("E2, scene 1", "c")]


def test_pickled_tv_script_that_is_not_a_dict_is_rejected_with_location():
    said = "the whole file is not a Python dict"
    with pytest.raises(BadInput, match=rf"dialsim/friends_dialsim\.pickle: {said}"):
        list(pickled(file(pickle.dumps([1]))))


def test_episode_that_is_not_a_dict_is_one_invalid_record_among_valid_scenes():
    found = list(pickled(file(pickle.dumps({"E1": [1], "E2": {1: "c"}}))))
    assert [(raw.where, raw.fault is None) for raw in found] == [
        ("episode E1", False),
        ("episode E2, scene 1", True),
    ]
