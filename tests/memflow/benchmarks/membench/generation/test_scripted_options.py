"""Wrong options of the scripted simulator have the form of the correct option."""

import random
import re
from itertools import islice

import pytest

from memflow.benchmarks.membench.generation.scripted_options import near_options
from memflow.benchmarks.membench.generation.vocabulary import Language


def options(answer: str, language: Language = "en") -> list[str]:
    found = [option for option in near_options(answer, language, random.Random(1)) if option != answer]
    return list(islice(dict.fromkeys(found), 3))


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("hazel.carver@example.net", r"[a-z.]+\d?@example\.(com|org|net)"),
        ("renshaohui@yulan.example", r"renshaohui\d?@(yulan\.example|example\.(com|org|net))"),
        ("617-555-0142", r"617-555-01\d\d"),
        ("54 years old", r"[1-9]\d years old"),
        ("April 13", r"April (1\d|2[0-8])"),
        ("one day", r"(two|three|four|five|six|seven|eight|nine) days"),
        ("two weeks", r"(one week|\w+ weeks)"),
        ("Moonrise Savings Bank", r"\w+ Savings Bank"),
        ("Hazel Carver", r"\w+ Carver"),
        ("seven hundred people", r"\w+ hundred people"),
    ],
)
def test_wrong_options_have_the_form_of_the_answer(answer: str, form: str) -> None:
    language: Language = "zh" if "yulan" in answer else "en"
    assert len(options(answer, language)) == 3
    assert all(re.fullmatch(form, option) for option in options(answer, language))
