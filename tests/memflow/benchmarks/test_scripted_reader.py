"""The scripted reader finds literally stated facts, corrections and lists, and infers nothing else."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.scripted_reader import best_options, relevant_lines

AGE = "How old is my niece Ann?"
AGES = ["27 years old", "28 years old", "29 years old", "8 years old"]


def test_relevant_lines_returns_only_lines_with_words_of_the_question():
    shown = "My niece came by.\nShe is 28 years old.\nThe nieces left."
    assert relevant_lines(shown, AGE) == shown
    assert relevant_lines(shown, "Where is the niece?") == "My niece came by.\nThe nieces left."
    assert relevant_lines(shown, "Whose bicycle?") == ""


def test_scripted_reader_selects_option_stated_about_the_question_subject():
    shown = "My niece Ann is 28 years old.\nMy uncle Ben is 27 years old."
    assert best_options(shown, AGE, AGES) == [1]
    assert best_options(shown, "How old is my uncle Ben?", AGES) == [0]


def test_scripted_reader_ignores_option_that_is_part_of_a_longer_word():
    assert best_options("My niece Ann is 28 years old.", AGE, ["8 years old", "28 years old"]) == [1]
    assert best_options("We went with Annabel.", "Who was there?", ["Ann", "Bob"]) == [0, 1]
    phones = ["苹果iPhone 1", "苹果iPhone 13"]
    assert best_options("我的手机是苹果iPhone13。", "我的手机是什么？", phones) == [1]


def test_scripted_reader_selects_option_stated_in_chinese_text():
    shown = "我的侄女小安今年28岁。\n我的叔叔老张今年27岁。"
    assert best_options(shown, "我的侄女小安多大了？", ["27岁", "28岁", "29岁", "30岁"]) == [1]


@pytest.mark.parametrize(
    ("stale", "corrected", "question", "options"),
    [
        (
            "My niece Ann's hobby is chess.",
            "Sorry, I need to correct what I said earlier. My niece Ann's hobby is sailing.",
            "What is the hobby of my niece Ann?",
            ["chess", "sailing", "fencing", "baking"],
        ),
        (
            "我侄女小安的爱好是下棋。",
            "抱歉，我要更正之前说的话。我侄女小安的爱好是帆船。",
            "我侄女小安的爱好是什么？",
            ["下棋", "帆船", "击剑", "烘焙"],
        ),
    ],
)
def test_scripted_reader_selects_later_correction_over_earlier_statement(stale, corrected, question, options):
    beside = "It came to my mind again this morning."
    assert best_options("\n".join([stale, beside, corrected]), question, options) == [1]
    assert best_options(stale, question, options) == [0]


def test_scripted_reader_ignores_position_of_options_in_question():
    shown = "Ann is 28 years old.\nBen is 27 years old."
    assert best_options(shown, "Who is older, Ann or Ben?", ["Ann", "Ben", "Both", "Neither"]) == [0, 1]


def test_scripted_reader_selects_list_option_with_exactly_the_stated_items():
    question = "Which movies have you recommended to me so far?"
    shown = """I like the movie Jaws (1975).
I recommend the movie The Good, the Bad and the Ugly (1966).
The movie Alien (1979) is one of my favourites.
The movie that I would recommend is Heat (1995)."""
    said = ["Jaws (1975)", "The Good, the Bad and the Ugly (1966)", "Alien (1979)", "Heat (1995)"]
    lists = ["; ".join(said[at] for at in places) for places in ((1, 3), (1, 2, 3), (1,), (0, 3))]
    assert best_options(shown, question, lists) == [0]
    assert best_options(shown, question, lists[::-1]) == [3]


def test_scripted_reader_selects_longest_stated_option():
    tastes = ["Sweet", "Salty", "Sweet and Salty", "Sour"]
    assert best_options("Sweet and Salty", "Which taste?", tastes) == [2]
    movies = ["Heat (1995)", "Jaws (1975)", "Alien (1979)", "Diva (1981)"]
    lists = [movies[0], *("; ".join(movies[at : at + 2]) for at in range(3))]
    assert best_options("Heat (1995); Jaws (1975)", "Which movies have you recommended?", lists) == [1]


@given(question=st.text(max_size=60), options=st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_scripted_reader_returns_all_options_for_empty_context(question, options):
    assert best_options("", question, options) == list(range(len(options)))


@given(
    shown=st.lists(st.sampled_from([*AGES, "My niece Ann", "It rains.", "小安28岁", ""]), max_size=8),
    options=st.lists(st.sampled_from([*AGES, "a; b", "a; c", "小安", ""]), min_size=1, max_size=5),
)
def test_scripted_reader_returns_at_least_one_option_for_any_context(shown, options):
    best = best_options("\n".join(shown), AGE, options)
    assert best and set(best) <= set(range(len(options)))


def test_scripted_reader_returns_all_options_if_context_states_none_of_the_options():
    shown = "My stomach is in knots and I cannot eat.\nI check my phone every two minutes."
    moods = ["joyful", "anxious", "lonely", "bored"]
    assert best_options(shown, "What mood was I in?", moods) == [0, 1, 2, 3]


@pytest.mark.skipif(
    not Path(os.environ.get("MEMFLOW_DATA", "-"), "memdaily").is_dir(),
    reason="MEMFLOW_DATA names no folder with MemDaily's files",
)
def test_scripted_reader_answers_memdaily_from_evidence_and_guesses_without_evidence():
    shown, noise = [], []
    for file in sorted(Path(os.environ["MEMFLOW_DATA"], "memdaily").rglob("0[12]_*.json")):
        for trajectory in json.loads(file.read_text())[:40]:
            said = [line["message"] for line in trajectory["message_list"]]
            for item in trajectory["question_list"]:
                if not isinstance(item["choices"], dict) or not item["ground_truth"]:
                    continue
                options, gold = (
                    list(item["choices"].values()),
                    "ABCD".index(item["ground_truth"]),
                )
                evidence = "\n".join(said[at] for at in item["target_step_id"])
                for found, text in ((shown, evidence), (noise, "")):
                    best = best_options(text, item["question"], options)
                    found.append((gold in best) / len(best))
    assert len(shown) > 150
    assert sum(shown) / len(shown) > 0.7
    assert sum(noise) / len(noise) == 0.25
