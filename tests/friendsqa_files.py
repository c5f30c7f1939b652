"""FriendsQA files with invented content: `answer(lines, 2, "a boat")` marks tokens, `speaks(lines, 2)` the speaker."""

import json
from collections.abc import Sequence
from typing import Any

Lines = Sequence[tuple[str, str]]
"""(speakers joined by `+`, published words) per line."""


def answer(lines: Lines, utterance: int, text: str) -> dict[str, Any]:
    tokens, wanted = lines[utterance][1].split(), text.split()
    first = next(at for at in range(len(tokens)) if tokens[at : at + len(wanted)] == wanted)
    return _span(text, utterance, first, first + len(wanted) - 1, speaker=False)


def speaks(lines: Lines, utterance: int) -> dict[str, Any]:
    return _span(lines[utterance][0].split("+")[0], utterance, -1, -1, speaker=True)


def _span(text: str, utterance: int, start: int, end: int, *, speaker: bool) -> dict[str, Any]:
    place = {"utterance_id": utterance, "inner_start": start, "inner_end": end}
    return {"answer_text": text, **place, "is_speaker": speaker}


def scene(title: str, lines: Lines, *asked: tuple[str, str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return a scene with questions given as (kind, words, answers)."""
    said = [
        {"uid": uid, "speakers": speakers.split("+"), "utterance": words}
        for uid, (speakers, words) in enumerate(lines)
    ]
    qas = [{"id": f"{title}_{kind}", "question": words, "answers": given} for kind, words, given in asked]
    return {"title": title, "paragraphs": [{"utterances:": said, "qas": qas}]}


def published(*scenes: dict[str, Any]) -> bytes:
    return json.dumps({"data": list(scenes), "version": "2.0"}).encode()


KITCHEN = (
    ("#NOTE#", "[ Scene : The kitchen , Ada is peeling onions . ]"),
    ("Ada Moor", "I 'm gon na sell the boat , Ben ."),
    ("Ben Lund", "You ca n't ! We need it ."),
    ("Ada Moor+Ben Lund", "Hey !"),
    ("Cleo Park", "He hid the key under the stairs ."),
)
GARDEN = (
    ("#NOTE#", "[ Scene : The garden , a storm is coming . ]"),
    ("Ben Lund", "I bought a wooden ladder ."),
    ("Cleo Park", "Put it behind the shed , quickly ."),
    ("#ALL#", "Yeah !"),
)
ATTIC = (
    ("#NOTE#", "[ Scene : The attic . ]"),
    ("Cleo Park", "I have found an old radio ."),
    ("Dan Reed", "Leave it near the window ."),
    ("Ada Moor", "Dan , that is mine ."),
)
HARBOUR = (
    ("Dan Reed", "I lost a red glove ."),
    ("Ada Moor", "It fell into the water ."),
    ("Ben Lund", "Then swim ."),
)
MARKET = (
    ("Ben Lund", "Somebody ate my pears ."),
    ("Ada Moor", "I saw nothing ."),
    ("Cleo Park", "Look inside the basket ."),
)

SEASON = (
    scene(
        "s01_e02_c01",
        GARDEN,
        ("What", "What did Ben buy ?", [answer(GARDEN, 1, "a wooden ladder")]),
        ("Where", "Where does it go ?", [answer(GARDEN, 2, "behind the shed ,"), answer(GARDEN, 2, "shed")]),
        ("Who", "Who has a ladder ?", [answer(GARDEN, 1, "I"), speaks(GARDEN, 1)]),
    ),
    scene(
        "s01_e01_c02",
        KITCHEN,
        ("What", "What will be sold ?", [answer(KITCHEN, 1, "the boat"), answer(KITCHEN, 2, "We")]),
        ("What_Paraphrased", "What goes ?", [answer(KITCHEN, 1, "the boat")]),
        ("Where", "Where is the key ?", [answer(KITCHEN, 4, "under the stairs")]),
        ("Who", "Who is peeling ?", [answer(KITCHEN, 0, "Ada"), speaks(KITCHEN, 1), speaks(KITCHEN, 1)]),
    ),
    scene(
        "s01_e02_c03",
        ATTIC,
        ("What", "What is found ?", [answer(ATTIC, 1, "an old radio")]),
        ("Where", "Where is it left ?", [answer(ATTIC, 2, "near the window .")]),
        ("Why", "Why does Ada mind ?", [answer(ATTIC, 3, "that is mine")]),
    ),
    scene(
        "s01_e02_c10",
        HARBOUR,
        ("What", "What is lost ?", [answer(HARBOUR, 0, "a red glove"), answer(HARBOUR, 0, "glove .")]),
        ("Where", "Where did it fall ?", [answer(HARBOUR, 1, "into the water")]),
    ),
    scene(
        "s01_e03_c01",
        MARKET,
        ("What", "What was eaten ?", [answer(MARKET, 0, "my pears")]),
        ("Where", "Where to look ?", [answer(MARKET, 2, "inside the basket")]),
    ),
)
"""Five scenes in another order than they are played in: 19 messages, 15 questions, one of them a paraphrase."""
