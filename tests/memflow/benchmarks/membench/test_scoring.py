"""Slices of figures: by level and kind, with emotion apart from preference."""

from factories import row

from memflow.benchmarks.membench.scoring import probe_slices
from memflow.records import Probe


def probe(kind, scenario, number=0):
    episode = f"participation/{kind}/{scenario}/{number}"
    return row(
        Probe,
        probe_id=f"{episode}/q0",
        episode_id=episode,
        dataset="made",
        category=kind,
        question="?",
        options=["a", "b", "c", "d"],
        revealed="a",
    )


def test_emotion_and_preference_share_what_is_reflective_between_them() -> None:
    asked = [
        probe("highlevel", "movie"),
        probe("highlevel", "emotion"),
        probe("highlevel", "emotion", 1),
        probe("highlevel_rec", "movie"),
        probe("lowlevel_rec", "movie"),
    ]
    count = {name: len(held) for name, held in probe_slices(asked).items()}
    assert count == {
        "all": 5,
        "level factual": 1,
        "level reflective": 4,
        "category highlevel": 3,
        "category preference": 2,
        "scenario movie": 3,
        "category emotion": 2,
        "scenario emotion": 2,
        "category highlevel_rec": 1,
        "category lowlevel_rec": 1,
    }
    by_name = probe_slices(asked)
    apart = by_name["category preference"] + by_name["category emotion"]
    assert sorted(one.probe_id for one in apart) == sorted(
        one.probe_id for one in by_name["level reflective"]
    )


def test_a_kind_that_is_not_asked_has_no_slice() -> None:
    assert set(probe_slices([probe("simple", "roles")])) == {
        "all",
        "level factual",
        "category simple",
        "scenario roles",
    }
