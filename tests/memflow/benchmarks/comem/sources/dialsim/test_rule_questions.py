"""Rule-based questions: labels computed by hand, and properties of all questions."""

import random
import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from memflow.benchmarks.comem.contexts import ContextMessage
from memflow.benchmarks.comem.sources.dialsim.rule_questions import (
    NAMED,
    SAID_LAST,
    WHO_SAID,
    SpeakerIndex,
    said_last,
    who_said,
)

Talk = Callable[..., list[ContextMessage]]


def lines(*said: tuple[str, str]) -> list[ContextMessage]:
    return [ContextMessage(text, "user", speaker) for speaker, text in said]


SHORT = lines(
    ("Ann", "We could go home."),
    ("Bo", "The boat is under the bridge by now."),
    ("All", "The river has come up to the garden wall."),
    ("Bo", "Well, we could go home!"),
    ("Cy", "Oh."),
    ("Ann", "Nobody told Cy that the garden is gone."),
)


def test_label_of_who_said_question_is_unknown_before_the_quoted_line():
    (asked,) = who_said(SpeakerIndex(SHORT), 1, random.Random(0))
    assert asked.question == 'Who says: "The boat is under the bridge by now."?'
    assert sorted(asked.options[:3]) == ["Ann", "Bo", "Cy"] and asked.options[3:] == ("I don't know.",)
    assert [asked.label_at(visible) for visible in (0, 1)] == ["4", "4"]
    assert [asked.options[int(asked.label_at(visible)) - 1] for visible in (2, 6)] == ["Bo", "Bo"]
    told = asked.known_at(6)
    assert told is not None and told.evidence == (1,)
    assert asked.true_of == (*asked.options[:3], "") and asked.category == WHO_SAID


def test_lines_with_names_several_speakers_or_repetition_give_no_who_said_question():
    # Of the six lines, two are too short, one is a crowd's, one names Cy, and two say the same.
    assert [asked.question_id for asked in who_said(SpeakerIndex(SHORT), 20, random.Random(0))] == [
        "who_said_1"
    ]


def test_label_of_said_last_question_changes_when_another_speaker_repeats_the_line():
    (asked,) = said_last(SpeakerIndex(SHORT), 5, random.Random(0))
    assert asked.question == 'Who was the last to say these words: "We could go home."?'
    assert [asked.options[int(asked.label_at(visible)) - 1] for visible in (0, 1, 3, 4, 6)] == [
        "I don't know.", "Ann", "Ann", "Bo", "Bo",
    ]  # fmt: skip
    assert asked.answer == asked.options.index("Bo") + 1 and asked.category == SAID_LAST


@examples(25)
@given(seed=st.integers(0, 10_000))
def test_every_rule_question_is_answerable_and_quotes_no_option(talk: Talk, seed: int):
    chance = random.Random(seed)
    said = talk(120, seed)
    told = SpeakerIndex(said)
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
        assert asked.unknown_option == len(asked.options) and asked.reason is None
        assert not any(re.search(rf"\b{option}\b", quoted) for option in asked.options[:-1])
        assert set(asked.options[:-1]) <= {"Ann", "Bo", "Cy", "Dee"}


def _bare(text: str) -> str:
    return " " + " ".join(re.findall(r"[\w']+", text.lower().replace("’", "'"))) + " "
