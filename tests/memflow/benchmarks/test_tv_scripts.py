"""Parsing of TV scripts that were shortened by hand. The benchmarks' readers have tests in their folders."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks import registry
from memflow.benchmarks.published_file import File
from memflow.benchmarks.tv_scripts import Utterance, pickled, scripts, utterances


def file(content: bytes) -> File:
    return File(registry.datasets()["dialsim_friends"], "dialsim/friends_dialsim.pickle", content)


def test_script_line_without_speaker_continues_previous_utterance():
    said = utterances("nobody yet\nAnn: One: two.\n\nthree\nBo:\nCy: \nfour")
    assert said == (Utterance(2, "Ann", "One: two.\nthree"), Utterance(6, "Cy", "four"))


@given(st.text())
def test_tv_script_parser_parses_any_text_or_raises_value_error(text: str):
    try:
        assert all(script.utterances() for script in scripts(text))
    except ValueError as refused:
        assert "first line" in str(refused) or "session" in str(refused)


def test_episode_that_is_not_a_dict_is_one_invalid_record_among_valid_scenes():
    found = list(pickled(file(pickle.dumps({"E1": [1], "E2": {1: "c"}}))))
    assert [(raw.where, raw.fault is None) for raw in found] == [
        ("episode E1", False),
        ("episode E2, scene 1", True),
    ]
