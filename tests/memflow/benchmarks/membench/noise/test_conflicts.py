"""Phrases that noise must not contain, and the search for them in a text."""

import pytest
from factories import entity, probe
from membench_noise import said

from memflow.benchmarks.membench.noise.conflicts import find_conflict, forbidden_phrases, normalize
from memflow.records import Probe

USER = "life-7"
EPISODE = f"{USER}/simple/roles/0"


def probe_of(*options: str, revealed: str = "", episode: str = EPISODE) -> Probe:
    return probe(episode_id=episode, options=list(options), revealed=revealed or options[0])


@pytest.mark.parametrize(
    ("text", "phrase", "holds"),
    [
        ("They moved to New York, N.Y. lately.", "new york", True),
        ("A newer York is not meant.", "New York", False),
        ("Nine hundred people came", "nine hundred people", True),
        ("A bolt of 165 cm", "165 cm", True),
        ("The number 1657", "165", False),
        ("消息说王志宏今天来过", "王志宏", True),
        ("上海市的消息", "北京", False),
        ("亚瑟士Gel-Kayano 26发售", "亚瑟士gel-kayano 26", True),
        ("write to ANN@example.com at once", "ann@example.com", True),
    ],
)
def test_forbidden_phrase_matches_only_at_word_boundaries(text: str, phrase: str, holds: bool) -> None:
    assert (find_conflict(normalize(text), [normalize(phrase)]) is not None) == holds


def test_options_gold_and_names_of_a_trajectory_are_forbidden_phrases() -> None:
    turns = said([1], EPISODE)
    probes = [probe_of("Boston, MA", "Miami, FL; nurse", revealed="Boston")]
    people = [entity(user_id=USER, name="Clara Jennings"), entity(user_id="life-8", name="Someone Else")]
    phrases = forbidden_phrases(turns, probes, people)
    assert phrases == {EPISODE: (" boston ", " boston ma ", " clara jennings ", " miami fl ", " nurse ")}


def test_preference_trajectories_forbid_phrases_that_express_liking() -> None:
    name = "life-7/highlevel/movie/0"
    phrases = forbidden_phrases(said([1], name), [probe_of("Action", episode=name)])[name]
    assert find_conflict(normalize("I really like those trains."), phrases) == " i really like "
    assert find_conflict(normalize("大家都喜欢这座桥"), phrases) == normalize("喜欢")
    assert find_conflict(normalize("The panel would recommend a second bridge."), phrases) is not None
    assert find_conflict(normalize("It looks like rain."), phrases) is None
    factual = forbidden_phrases(said([1], EPISODE), [])[EPISODE]
    assert find_conflict(normalize("I really like those trains."), factual) is None
