"""The examiner accepts generated golds and finds planted wrong golds, options and evidence of every question kind."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest
from membench_generation import Made, make

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.examination.examiner import Examination, examine
from memflow.benchmarks.membench.examination.quantities import moment_in
from memflow.benchmarks.membench.generation.planning import planned_kinds
from memflow.benchmarks.membench.generation.values import format_moment
from memflow.benchmarks.membench.kinds import SCENES
from memflow.benchmarks.membench.turns import scenario_of
from memflow.benchmarks.membench.wording import parse_time
from memflow.records import Probe, Turn

EVERYWHERE = [(scene, language) for scene in SCENES for language in ("en", "zh")]
RELATIVE = re.compile(r"days from today|天后的")
CORRECTED = ("conditional", "comparative", "aggregative", "post_processing", "noisy")
"""Kinds whose answer requires each of several evidence messages."""


@cache
def made(scene: str, language: str, users: int = 3, **parameters: tuple[str, ...]) -> Made:
    """Return a domain of users with short sessions, worded by the scripted simulator."""
    sizes = {"graphs": users, "role_rounds": 3, "event_rounds": 2}
    values = {"scene": scene, "language": language, **sizes, **parameters}
    return make(Domain("made", "membench", (f"lives_{language}",), "made", values))


everywhere = pytest.mark.parametrize(("scene", "language"), EVERYWHERE)


def outcomes(probes: Sequence[Probe], turns: Sequence[Turn]) -> Counter[str]:
    return Counter(each.outcome for each in examine(probes, turns))


def kind_of(probe: Probe) -> tuple[str, str]:
    return probe.category or "", scenario_of(probe.episode_id)


def assert_all_found(planted: Sequence[Probe], turns: Sequence[Turn]) -> list[Examination]:
    """Assert that each planted probe is found wrong, with its gold in the reason; return the examinations."""
    found = examine(planted, turns)
    missed = [probe.probe_id for probe, each in zip(planted, found, strict=True) if each.outcome != "wrong"]
    assert planted and missed == []
    assert all(repr(probe.revealed) in each.reason for probe, each in zip(planted, found, strict=True))
    return found


def with_options(probe: Probe, options: Sequence[str], gold: int) -> Probe:
    return replace(probe, options=list(options), gold=str(gold + 1), revealed=options[gold])


def wrong_place(probe: Probe) -> int:
    """Return the position of an option other than the gold."""
    return int(probe.gold) % len(probe.options)


@everywhere
def test_examiner_finds_no_wrong_gold_in_generated_users_and_reads_every_scripted_wording(scene, language):
    generated = made(scene, language)
    kinds = {(kind.name, scenario) for kind, scenario in planned_kinds(parameters_of(generated.domain))}
    assert {kind_of(probe) for probe in generated.probes} == kinds
    assert outcomes(generated.probes, generated.turns) == {"right": len(generated.probes)}


@everywhere
def test_examiner_finds_each_other_option_planted_as_gold_of_every_kind(scene, language):
    generated = made(scene, language)
    planted = [
        with_options(probe, probe.options, gold)
        for probe in generated.probes
        for gold in range(len(probe.options))
        if gold != int(probe.gold) - 1
    ]
    assert len(planted) == 3 * len(generated.probes)
    for each in assert_all_found(planted, generated.turns):
        assert "recomputed" in each.reason and "/0/" in each.reason  # the id of a message


@everywhere
def test_examiner_finds_second_right_option_of_every_kind(scene, language):
    generated = made(scene, language)
    planted = []
    for probe in generated.probes:
        options = list(probe.options)
        options[wrong_place(probe)] = f"{probe.revealed} "
        planted.append(replace(probe, options=options))
    assert all("are right" in each.reason for each in assert_all_found(planted, generated.turns))


@everywhere
def test_examiner_finds_missing_evidence_message(scene, language):
    generated = made(scene, language)
    planted = [
        replace(probe, evidence=probe.evidence[1:])
        for probe in generated.probes
        if probe.category in CORRECTED or (probe.category == "rec_multi_session")
    ]
    assert_all_found(planted, generated.turns)


def dated(language: str) -> Iterator[tuple[Probe, Turn, Turn]]:
    """Yield probes about relative dates with two evidence messages: the message with the date, and a later one."""
    generated = made(
        "observation", language, 40, kinds=("conditional", "noisy", "post_processing"), scenarios=("events",)
    )
    said = {turn.message_id: turn for turn in generated.turns}
    for probe in generated.probes:
        messages = [said[message] for message in probe.evidence]
        stating = [turn for turn in messages if RELATIVE.search(turn.text) and "time" in (turn.exposes or "")]
        if moment_in(probe.revealed) is not None and stating and stating[0] is not messages[-1]:
            yield probe, stating[0], messages[-1]


def moved(probe: Probe, days: int, gold: bool = True) -> Probe:
    """Return the probe with a date that is `days` later, as the gold or as a wrong option."""
    moment = moment_in(probe.revealed)
    assert moment is not None
    text = format_moment(moment + timedelta(days=days), probe.language)
    at = int(probe.gold) - 1 if gold else wrong_place(probe)
    options = [text if place == at else option for place, option in enumerate(probe.options)]
    return replace(probe, options=options, revealed=text if gold else probe.revealed)


def days_between(earlier: Turn, later: Turn) -> int:
    first, last = parse_time(earlier.sent_at or ""), parse_time(later.sent_at or "")
    assert first is not None and last is not None
    return (last.date() - first.date()).days


@pytest.mark.parametrize("language", ["en", "zh"])
def test_examiner_finds_relative_date_counted_from_the_wrong_evidence_message(language):
    found = [each for each in dated(language) if days_between(each[1], each[2]) > 0]
    assert len(found) >= 3
    turns = made(
        "observation", language, 40, kinds=("conditional", "noisy", "post_processing"), scenarios=("events",)
    ).turns
    assert outcomes([probe for probe, _, _ in found], turns) == {"right": len(found)}
    planted = [moved(probe, days_between(stating, last)) for probe, stating, last in found]
    for each, (_, stating, _) in zip(assert_all_found(planted, turns), found, strict=True):
        assert stating.message_id in each.reason


@pytest.mark.parametrize("language", ["en", "zh"])
def test_examiner_finds_option_that_is_another_reading_of_a_relative_date(language):
    probe, *_ = next(dated(language))
    turns = [turn for turn in made(
        "observation", language, 40, kinds=("conditional", "noisy", "post_processing"), scenarios=("events",)
    ).turns if turn.episode_id == probe.episode_id]  # fmt: skip
    [found] = examine([moved(probe, -1, gold=False)], turns)
    assert found.outcome == "wrong" and "another reading" in found.reason


def test_probe_without_known_cue_words_counts_as_not_examined_and_not_as_wrong():
    generated = made("observation", "en")
    probe = generated.probes[0]
    reworded = replace(probe, question="Well?")
    [unread] = examine([reworded], generated.turns)
    assert unread == Examination("not examined", "the question contains no known cue word")
    silent = [replace(turn, text="It was nice.") for turn in generated.turns]
    assert outcomes(generated.probes, silent) == {"not examined": len(generated.probes)}
    [quarantined] = examine([replace(probe, reason="failed")], generated.turns)
    assert quarantined.outcome == "not examined"


def test_examiner_reads_free_wordings_of_facts():
    generated = made("participation", "en")
    probe = next(each for each in generated.probes if kind_of(each) == ("simple", "roles"))
    turns = [turn for turn in generated.turns if turn.episode_id == probe.episode_id]
    asked = replace(
        probe,
        question="So, how old is my niece these days?",
        options=["31 years old", "28 years old", "29 years old", "82 years old"],
        gold="2",
        revealed="28 years old",
        evidence=[turns[0].message_id],
    )
    text = "Can you believe that my niece Ada Finch, of all people, is already 28 years old? Time flies."
    others = [turn for turn in turns[2:] if "years old" not in turn.text]
    assert examine([asked], [replace(turns[0], text=text), *others]) == [Examination("right")]


PROJECTIONS = [
    "Next year my niece will be 29 years old.",
    "In two years, my niece is 30 years old.",
    "Soon my niece turns 29 years old.",
    "My niece is going to be 29 years old in May.",
    "Last year my niece was 27 years old, of course.",
    "My niece was only 12 years old when she was at school, you know, and I saw her 10 years ago.",
    "Believe it or not, on her next birthday my niece will already be 29 years old.",
]


def asked_age(language: str, text: str) -> str:
    """Return the outcome of a question about the age 28, after a message with the age and one with `text`."""
    generated = made("participation", language)
    probe = next(each for each in generated.probes if kind_of(each) == ("simple", "roles"))
    turn = next(each for each in generated.turns if each.episode_id == probe.episode_id)
    stated, question, unit = {
        "en": ("My niece is 28 years old.", "How old is my niece?", " years old"),
        "zh": ("我表妹今年28岁。", "我表妹今年多大？", "岁"),
    }[language]
    options = [f"{years}{unit}" for years in (31, 28, 29, 30)]
    asked = replace(
        probe, question=question, options=options, gold="2", revealed=options[1], evidence=[turn.message_id]
    )
    later = replace(turn, message_id=turn.message_id.replace("u", "v"), text=text, position=turn.position + 1)
    [found] = examine([asked], [replace(turn, text=stated), later])
    return found.outcome


@pytest.mark.parametrize("text", PROJECTIONS)
def test_projected_value_contradicts_no_statement(text):
    assert asked_age("en", text) == "right"
    assert asked_age("en", f"My niece is 28 years old, by the way. {text}") == "right"


@pytest.mark.parametrize("text", ["明年我表妹就29岁了。", "再过两年，我表妹就30岁了。", "去年我表妹27岁。"])
def test_projected_value_in_chinese_contradicts_no_statement(text):
    assert asked_age("zh", text) == "right"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "My niece is 29 years old."),
        ("en", "I will tell you: my niece is 29 years old."),
        ("en", "My niece has just turned 29 years old."),
        ("en", "Next year will be better, but my niece is 29 years old."),
        ("zh", "我表妹今年29岁。"),
    ],
)
def test_contradictory_value_still_makes_the_gold_wrong(language, text):
    assert asked_age(language, text) == "wrong"
