"""Questions by rule: keys by hand, and what must hold of every one of them."""

import random
import re
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.benchmarks.comem.contexts import Asked, Context, Line
from memflow.benchmarks.comem.sources.dialsim.rule_questions import (
    NAMED,
    SAID_LAST,
    WHO_SAID,
    Told,
    said_last,
    who_said,
)
from memflow.records import Record

Talk = Callable[..., list[Line]]


def lines(*said: tuple[str, str]) -> list[Line]:
    return [Line(text, "user", speaker) for speaker, text in said]


SHORT = lines(
    ("Ann", "We could go home."),
    ("Bo", "The boat is under the bridge by now."),
    ("All", "The river has come up to the garden wall."),
    ("Bo", "Well, we could go home!"),
    ("Cy", "Oh."),
    ("Ann", "Nobody told Cy that the garden is gone."),
)


def test_before_a_line_is_said_there_is_no_telling_who_says_it():
    (asked,) = who_said(Told(SHORT), 1, random.Random(0))
    assert asked.question == 'Who says: "The boat is under the bridge by now."?'
    assert sorted(asked.options[:3]) == ["Ann", "Bo", "Cy"] and asked.options[3:] == ("I don't know.",)
    assert [asked.key(visible) for visible in (0, 1)] == ["4", "4"]
    assert [asked.options[int(asked.key(visible)) - 1] for visible in (2, 6)] == ["Bo", "Bo"]
    told = asked.told(6)
    assert told is not None and told.evidence == (1,)
    assert asked.true_of == (*asked.options[:3], "") and asked.category == WHO_SAID


def test_a_line_that_names_an_option_or_is_said_by_a_crowd_is_not_asked_about():
    # Of the six lines, two are too short, one is a crowd's, one names Cy, and two say the same.
    assert [asked.question_id for asked in who_said(Told(SHORT), 20, random.Random(0))] == ["who_said_1"]


def test_who_said_words_last_changes_when_they_are_said_again():
    (asked,) = said_last(Told(SHORT), 5, random.Random(0))
    assert asked.question == 'Who was the last to say these words: "We could go home."?'
    assert [asked.options[int(asked.key(visible)) - 1] for visible in (0, 1, 3, 4, 6)] == [
        "I don't know.", "Ann", "Ann", "Bo", "Bo",
    ]  # fmt: skip
    assert asked.answer == asked.options.index("Bo") + 1 and asked.category == SAID_LAST


def test_words_that_a_crowd_says_too_have_no_last_speaker():
    assert said_last(Told([*SHORT, Line("We could go home.", "user", "All")]), 5, random.Random(0)) == []


def test_words_that_one_person_alone_repeats_are_not_asked_about():
    assert said_last(Told([SHORT[0], SHORT[0], SHORT[1]]), 5, random.Random(0)) == []


def test_those_of_whom_is_asked_are_single_people_who_speak_often():
    said = lines(
        *[("Ann", "So.")] * 300, *[("Bo", "The woman left.")] * 300, ("Cy", "Oh."), ("Ann and Bo", "Hi.")
    )
    assert set(Told([*said, *lines(*[("Woman", "Well.")] * 30)]).people) == {"Ann", "Bo"}


def test_the_other_options_are_who_speaks_near_and_then_who_speaks_most():
    said = [
        *[Line("So.", "user", "Far", 0)] * 5,
        *[Line("So.", "user", "Dee", 0)] * 3,
        Line("So.", "user", "Bo", 1),
        Line("So.", "user", "Ann", 1),
        Line("So.", "user", "Ann", 1),
    ]
    assert Told(said).beside(8, ["Bo"]) == ["Ann", "Far", "Dee"]


@examples(25)
@given(st.integers(0, 10_000))
def test_every_question_can_be_answered_from_the_lines_and_from_no_hint(seed: int):
    chance = random.Random(seed)
    said = _talk(chance, 120)
    told = Told(said)
    for asked in (*who_said(told, 12, chance), *said_last(told, 4, chance)):
        quoted = re.fullmatch(r'.*?: "(.*)"\?', asked.question)[1]  # type: ignore[index]
        sayers = [
            (place, line.speaker) for place, line in enumerate(said) if _bare(quoted) in _bare(line.text)
        ]
        assert [(known.since, asked.options[known.answer - 1]) for known in asked.known] == [
            (place + 1, speaker) for place, speaker in sayers
        ]
        assert asked.category != WHO_SAID or len(sayers) == 1
        assert asked.category != SAID_LAST or len({speaker for _, speaker in sayers}) > 1
        assert len(set(asked.options)) == len(asked.options) <= NAMED + 1
        assert asked.unknowing == len(asked.options) and asked.reason is None
        assert not any(re.search(rf"\b{option}\b", quoted) for option in asked.options[:-1])
        assert set(asked.options[:-1]) <= {"Ann", "Bo", "Cy", "Dee"}


def test_questions_are_spread_evenly_and_gold_places_too(talk: Talk):
    asked = who_said(Told(talk(2000)), 100, random.Random(0))
    assert len(asked) == 100
    assert Counter(one.known[0].evidence[0] // 500 for one in asked) == {0: 25, 1: 25, 2: 25, 3: 25}
    places = Counter(one.answer for one in asked)
    assert set(places) == {1, 2, 3, 4} and min(places.values()) > 10


def test_a_stretch_in_which_nothing_can_be_asked_is_made_up_for_elsewhere(talk: Talk):
    said = [*talk(500), *lines(*[("Ann", "So.")] * 500)]
    asked = who_said(Told(said), 20, random.Random(0))
    assert len(asked) == 20 and all(one.known[0].since <= 500 for one in asked)
    assert len({one.question_id for one in asked}) == 20


def test_the_same_seed_asks_the_same(talk: Talk):
    def ask(seed: int) -> list[Asked]:
        told, chance = Told(talk(300)), random.Random(seed)
        return [*who_said(told, 10, chance), *said_last(told, 2, chance)]

    assert ask(1) == ask(1) != ask(2)


@pytest.mark.parametrize(("who", "last"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_domain_says_how_many_of_each_there_are(
    read: Callable[..., list[Record]], made: Callable[..., list[Context]], who: int, last: int
):
    script = "[Date: May 1, 1994, Session #1]\n\n" + "".join(
        f"{line.speaker}: {line.text}\n" for line in SHORT
    )
    records = read({"dialsim/dialsim_corpus_friends.txt": script.encode()})
    (context,) = made(records, who_said=who, said_last=last)
    assert [asked.category for asked in context.asked] == [WHO_SAID] * who + [SAID_LAST] * last


def test_nobody_but_the_speaker_says_what_is_asked_of_the_real_script(
    real: list[Record], made: Callable[..., list[Context]]
):
    for context in made(real):
        assert len(context.asked) == 48
        bare = [_bare(line.text) for line in context.lines]
        for asked in context.asked:
            quoted = _bare(asked.question.split(': "', 1)[1].removesuffix('"?'))
            said = [place for place, text in enumerate(bare) if quoted in text]
            assert [known.since - 1 for known in asked.known] == said
            assert [asked.options[known.answer - 1] for known in asked.known] == [
                context.lines[place].speaker for place in said
            ]


def _bare(text: str) -> str:
    return " " + " ".join(re.findall(r"[\w']+", text.lower().replace("’", "'"))) + " "


def _talk(chance: random.Random, count: int) -> list[Line]:
    again = ["What a lovely day it is!", "Oh, not again, please.", "Let us go home."]
    words = ["kite", "boat", "river", "stone", "Ann", "garden", "Bo", "paper"]
    found = []
    for place in range(count):
        text = " ".join(chance.choice(words) for _ in range(chance.randint(1, 9)))
        text = chance.choice(again) if chance.random() < 0.1 else text
        found.append(Line(text, "user", chance.choice(["Ann", "Bo", "Cy", "Dee", "All"]), place // 10))
    return found
