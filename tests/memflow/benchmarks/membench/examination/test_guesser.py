"""The guesser is at chance on generated questions, and finds planted give-aways of every kind."""

from dataclasses import replace

import pytest
from membench_generation import make

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.checks.examination import find_guessable_answers, find_predictable_options
from memflow.benchmarks.membench.examination.guesser import guess
from memflow.records import Probe

SMALL = {"graphs": 3, "role_rounds": 2, "event_rounds": 2}
PLANTED = [
    ("What kind of place is Elmfield Infirmary?", ["hospital", "park", "museum", "gym"], "type"),
    (
        "What kind of thing is the thing I described like this: It looks elegant on any desk, though the switch is"
        " hard to reach?",
        ["desk lamp", "bicycle", "camera", "backpack"],
        "type",
    ),
    (
        "What do I think of the hospital near me?",
        ["The nurses were kind.", "It was worth it.", "I had my doubts.", "It is all right for now."],
        "type",
    ),
    ("How old is my niece?", ["28 years old", "90 years old", "Boston, MA", "blue"], "kind"),
    ("How old is my father?", ["50 years old", "27 years old", "30 years old", "80 years old"], "stated"),
    (
        "What is the name of my aunt?",
        ["Ada Finch", "Adam Finch", "Boris Finch", "Oscar Finch"],
        "stated",
    ),
    (
        "What is the job title of the person who works as a teacher?",
        ["class teacher", "patrol officer", "line cook", "shepherd"],
        "stated",
    ),
    (
        "What is the highest qualification of the person whose job title is attending physician?",
        ["a doctorate", "an associate degree", "a high school diploma", "none"],
        "kind",
    ),
    (
        "Who does the person who works as a doctor work for?",
        ["Aurora Medical Center", "Aurora Farm", "Beacon Academy", "Canopy Airlines"],
        "stated",
    ),
    (
        "In which city does the person whose phone number is 617-555-0123 work?",
        ["Boston, MA", "Chicago, IL", "Seattle, WA", "Houston, TX"],
        "stated",
    ),
    (
        "What is the phone number of the person who works in Boston, MA?",
        ["617-555-0123", "312-555-0123", "206-555-0123", "713-555-0123"],
        "stated",
    ),
    (
        "What comes after the @ in the email address of the person who works for Aurora Farm?",
        ["aurora.example", "beacon.example", "canopy.example", "falcon.example"],
        "stated",
    ),
    (
        "How many people are expected at the job fair?",
        ["three thousand people", "thirty people", "four hundred people", "sixty people"],
        "stated",
    ),
    (
        "How many hours does the concert last, if every day is counted in full and a month as 30 days?",
        ["48 hours", "40 hours", "50 hours", "20 hours"],
        "kind",
    ),
    (
        "What is the sum of the last 5 digits of the phone number of my aunt Ada Finch?",
        ["12", "2", "3", "90"],
        "kind",
    ),
    (
        "Which event expects more people, Aurora Team Spirit or Beacon Hiring Fair?",
        ["Beacon Hiring Fair", "Aurora Team Spirit", "Canopy Expo", "both the same"],
        "name",
    ),
    (
        "What is the favorite drink of the person who likes green tea so much?",
        ["green tea", "coffee", "orange juice", "water"],
        "words",
    ),
    (
        "Which movies have you recommended to me so far?",
        ["Moon (2009); Arrival (2016)", "Moon (2009)", "Moon (2009); Arrival (2016); Her (2013)", "Arrival (2016)"],
        "lists",
    ),
    (
        "Which movies, dishes and books have you recommended to me so far?",
        ["Moon (2009); fudge; Matilda", "Moon (2009)", "fudge; Matilda", "Moon (2009); Matilda"],
        "kind",
    ),
    ("榆野医院是什么地方？", ["医院", "公园", "博物馆", "健身房"], "type"),
    ("我父亲今年多大？", ["50岁", "27岁", "30岁", "80岁"], "stated"),
    ("职业是教师的那个人的工作单位是哪里？", ["启明中学", "启明医院", "远帆酒楼", "青云银行"], "stated"),
]  # fmt: skip


def probe_of(question: str, options: list[str], probe: Probe) -> Probe:
    language = "en" if question.isascii() else "zh"
    return replace(
        probe, question=question, options=options, gold="1", revealed=options[0], language=language
    )


@pytest.fixture(scope="module")
def probe() -> Probe:
    return make(
        Domain("made", "membench", ("lives_en",), "made", {"graphs": 1, "kinds": ("simple",)})
    ).probes[0]


@pytest.mark.parametrize(("question", "options", "rule"), PLANTED)
def test_guesser_finds_planted_give_away(question, options, rule, probe):
    found = guess(probe_of(question, options, probe))
    assert rule in found.rules and found.expected_accuracy >= 0.5


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("爱好是骑马的那个人叫什么名字？", ["白庆丰", "倪立诚", "唐光耀", "姚健行"]),
        ("我带教师傅的最高学历是什么？", ["高中", "专科", "本科", "博士"]),
    ],
)
def test_part_of_a_word_tells_no_type_and_no_job(question, options, probe):
    assert guess(probe_of(question, options, probe)).rules == ()


@pytest.mark.parametrize("scene", ["observation", "participation"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_guesser_is_at_chance_on_generated_questions_of_another_seed(scene, language):
    parameters = {"scene": scene, "language": language, **SMALL}
    probes = make(Domain("made", "membench", (f"lives_{language}",), "made", parameters, seed=1)).probes
    for find in (find_guessable_answers, find_predictable_options):
        assert not find(probes), find(probes).note
    assert {guess(probe).expected_accuracy for probe in probes} == {0.25}
