"""The scripted reader finds literally stated facts, corrections and lists, and infers nothing else."""

import json
import os
from pathlib import Path

import pytest

from memflow.benchmarks.scripted_reader import best_options

AGE = "How old is my niece Ann?"
AGES = ["27 years old", "28 years old", "29 years old", "8 years old"]


def test_scripted_reader_selects_option_stated_about_the_question_subject():
    shown = "My niece Ann is 28 years old.\nMy uncle Ben is 27 years old."
    assert best_options(shown, AGE, AGES) == [1]
    assert best_options(shown, "How old is my uncle Ben?", AGES) == [0]


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
