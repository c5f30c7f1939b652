"""Memories that overwrite, ignore or keep everything: forgetting and transfer by hand."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoint_scores import expected_accuracy
from memory_helpers import Ignoring, Overwriting, Perfect

from memflow.benchmarks.api import States
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.chat.scripted import ScriptedChat
from memflow.memories.baselines import Nothing, Oracle
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory
from memflow.metrics.backends import MetricBackends
from memflow.metrics.continual import summary
from memflow.records import Probe, Reply, Verdict
from memflow.run.answer import answer_all
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

Z = dict[str, str]
"""Which answers are right, a question at a time: a digit for each checkpoint, 0 first."""
TWO, MANY = "of two", "of many"


def question(
    name: str, asks: str, options: str, *known: tuple[int, int], unknown_option: str = "I don't know."
) -> dict[str, Any]:
    """Return a question from pairs of line and option: the option is correct from this line on."""
    return {
        "id": name,
        "question": asks,
        "options": [*options.split(", "), unknown_option],
        "known": [{"after": line, "option": option, "evidence": [line]} for line, option in known],
    }


def lines(*said: str) -> list[dict[str, str]]:
    """Lines of a user and an assistant in turn; or, where they name who speaks, of people."""
    found = []
    for place, text in enumerate(said):
        speaker, _, words = text.rpartition(": ")
        who = {"role": "user", "speaker": speaker} if speaker else {"role": ("user", "assistant")[place % 2]}
        found.append({**who, "text": words})
    return found


ENGLISH: dict[str, Any] = {
    "id": "bea",
    "messages": lines(
        "I get to work by tram.", "Noted.", "My cat is called Pepper.", "A fine name.",
        "I get to work by bicycle now.", "Mind the rain.", "My garden grows beans.", "Good soil.",
    ),
    "questions": [
        question("work", "How do I get to work?", "tram, bicycle, ferry", (1, 1), (5, 2)),
        question("cat", "How is my cat called?", "Salt, Pepper", (3, 2)),
        question("garden", "What grows in my garden?", "beans, roses", (7, 1)),
    ],
}  # fmt: skip
CHINESE: dict[str, Any] = {
    "id": "小林",
    "language": "zh",
    "messages": lines(
        *[
            "我坐电车上班。",
            "好的。",
            "我的猫叫胡椒。",
            "好名字。",
            "今天下雨了。",
            "带伞。",
            "我种了豆子。",
            "不错。",
        ]
    ),
    "questions": [
        question("work", "我怎么上班？", "电车, 自行车", (1, 1), unknown_option="我不知道。"),
        question("cat", "我的猫叫什么？", "盐巴, 胡椒", (3, 2), unknown_option="我不知道。"),
    ],
}
PARTY: dict[str, Any] = {
    "id": "kitchen",
    "messages": lines(
        "Ann: My drink is cocoa.", "Ben: Mine is milk.", "Ben: My drink is juice.", "Cleo: Hush.",
        "Ann: My drink is cider now.", "Ben: Really?", "Cleo: My drink is water.", "Ann: At last.",
    ),
    "questions": [
        question("ann", "Which drink is Ann's?", "cocoa, juice, cider, water", (1, 1), (5, 3)),
        question("ben", "Which drink is Ben's?", "juice, cider", (3, 1)),
        question("cleo", "Which drink is Cleo's?", "tonic, water", (7, 2)),
    ],
}  # fmt: skip

CONTEXTS = {TWO: [ENGLISH, CHINESE], MANY: [PARTY]}

# At checkpoint 0 nobody knows: right where there is no telling at checkpoint 1 either, by whose key it is graded.
HAND: dict[tuple[str, str], Z] = {
    (TWO, "perfect"): {
        "bea/work": "01111", "bea/cat": "11111", "bea/garden": "11111",
        "小林/work": "01111", "小林/cat": "11111",
    },
    # The two lines before each checkpoint are all it has.
    (TWO, "overwriting"): {
        "bea/work": "01010", "bea/cat": "11100", "bea/garden": "11111",
        "小林/work": "01000", "小林/cat": "11100",
    },
    # The first two lines are all it ever has.
    (TWO, "ignoring"): {
        "bea/work": "01100", "bea/cat": "11000", "bea/garden": "11110",
        "小林/work": "01111", "小林/cat": "11000",
    },
    # It never knows: right as long as there is no telling.
    (TWO, "none"): {
        "bea/work": "00000", "bea/cat": "11000", "bea/garden": "11110",
        "小林/work": "00000", "小林/cat": "11000",
    },
    (TWO, "oracle"): {
        "bea/work": "01111", "bea/cat": "11111", "bea/garden": "11111",
        "小林/work": "01111", "小林/cat": "11111",
    },
    (MANY, "perfect"): {"kitchen/ann": "01111", "kitchen/ben": "11111", "kitchen/cleo": "11111"},
    # What others drink is all it has of some: it gives that for whoever is asked after.
    (MANY, "overwriting"): {"kitchen/ann": "01010", "kitchen/ben": "11100", "kitchen/cleo": "11111"},
    (MANY, "ignoring"): {"kitchen/ann": "01100", "kitchen/ben": "11000", "kitchen/cleo": "11110"},
    (MANY, "none"): {"kitchen/ann": "00000", "kitchen/ben": "11000", "kitchen/cleo": "11110"},
    (MANY, "oracle"): {"kitchen/ann": "01111", "kitchen/ben": "11111", "kitchen/cleo": "11111"},
}  # fmt: skip

MEMORIES: dict[str, Callable[[EntryStore], Memory]] = {
    "perfect": Perfect,
    "overwriting": Overwriting,
    "ignoring": Ignoring,
    "none": Nothing,
    "oracle": Oracle,
}

FIGURES = {
    # A_0 .. A_4, then F_1 .. F_4, then FWT_1 .. FWT_4, then all correct, all wrong and flips, each of five questions.
    (TWO, "perfect"): ((3, 5, 5, 5, 5), (0, 0, 0, 0), (2, 0, 0, 0), 5, 0, 0),
    (TWO, "overwriting"): ((3, 5, 3, 2, 1), (0, 2, 3, 4), (2, 0, 0, 0), 1, 0, 1 + 3 * (1 / 3)),
    (TWO, "ignoring"): ((3, 5, 3, 2, 1), (0, 2, 3, 4), (2, 0, 0, 0), 1, 0, 4 / 3),
    (TWO, "none"): ((3, 3, 1, 1, 0), (0, 2, 2, 3), (0, 0, 0, 0), 0, 2, 1),
    (TWO, "oracle"): ((3, 5, 5, 5, 5), (0, 0, 0, 0), (2, 0, 0, 0), 5, 0, 0),
    # Of three questions.
    (MANY, "perfect"): ((2, 3, 3, 3, 3), (0, 0, 0, 0), (1, 0, 0, 0), 3, 0, 0),
    (MANY, "overwriting"): ((2, 3, 2, 2, 1), (0, 1, 1, 2), (1, 0, 0, 0), 1, 0, 1 + 1 / 3),
    (MANY, "ignoring"): ((2, 3, 2, 1, 0), (0, 1, 2, 3), (1, 0, 0, 0), 0, 0, 1),
    (MANY, "none"): ((2, 2, 1, 1, 0), (0, 1, 1, 2), (0, 0, 0, 0), 0, 1, 2 / 3),
    (MANY, "oracle"): ((2, 3, 3, 3, 3), (0, 0, 0, 0), (1, 0, 0, 0), 3, 0, 0),
}


Asked = Callable[..., tuple[list[Probe], list[Reply], Z]]


@pytest.fixture
def asked(bench: CoMem, build: Callable[..., Any], tmp_path: Path) -> Asked:
    """`asked(contexts, memory)`: probes, replies, and which of them are right, from a file of these dialogues."""
    return partial(_asked, bench, build, tmp_path)


def _asked(
    bench: CoMem,
    build: Callable[..., Any],
    folder: Path,
    contexts: Sequence[Mapping[str, Any]],
    memory: str,
    **over: str,
) -> tuple[list[Probe], list[Reply], Z]:
    path = folder / "dialogues.json"
    path.write_text(json.dumps(contexts, ensure_ascii=False), encoding="utf-8")
    source = Dataset("mine", "Mine", "comem", (path.name,), "", "", "", own=True)
    domain = Domain("mine", "comem", ("mine",), "", {"keys": "rule", **over})
    records = bench.records(source, {path.name: path})
    chat, remember = ScriptedChat(bench.handlers()), MEMORIES[memory]

    turns, _, probes = build(domain, records)

    async def answers() -> tuple[list[Reply], list[Verdict]]:
        episodes = bench.episodes(domain, States(), turns, [], chat)
        played = await play_all(episodes if remember.needs_playing else [], remember, None)  # type: ignore[attr-defined]
        rows = entry_rows(domain.name, memory, played), transcript_rows(domain.name, memory, played)
        pasts = episode_histories(*rows, probes)
        replies = await answer_all(bench, domain, memory, probes, pasts, remember, chat)
        return replies, await bench.verdicts(domain, probes, replies, MetricBackends())

    replies, verdicts = asyncio.run(answers())
    right = {row.probe_id: row.value for row in verdicts if row.metric == "accuracy"}
    z: Z = {}
    for probe in probes:
        value = right[probe.probe_id]
        assert value is not None
        z[probe.question_id] = z.get(probe.question_id, "") + str(int(value))
    return probes, replies, z


@pytest.mark.parametrize(("contexts", "memory"), HAND)
def test_correct_answers_per_checkpoint_match_hand_computed_values(contexts: str, memory: str, asked: Asked):
    _, replies, z = asked(CONTEXTS[contexts], memory)
    assert not [reply.reason for reply in replies if reply.reason]
    assert z == HAND[contexts, memory]


@pytest.mark.parametrize("case", HAND)
def test_forgetting_and_transfer_metrics_match_hand_computed_values(case: tuple[str, str]):
    correct = np.array([[int(digit) for digit in row] for row in HAND[case].values()], dtype=float)
    found = summary(correct)
    accuracy, forgetting, transfer, always, never, flips = FIGURES[case]
    n = len(correct)
    assert found.n == n
    assert found.accuracy == pytest.approx([count / n for count in accuracy])
    assert found.forgetting == pytest.approx([0, *(count / n for count in forgetting)])
    assert found.forward_transfer == pytest.approx([0, *(count / n for count in transfer)])
    assert (found.all_correct, found.all_wrong) == pytest.approx((always / n, never / n))
    assert found.flip_rate == pytest.approx(flips / n)
    assert found.accuracy == pytest.approx(expected_accuracy(found))


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_memory_none_gives_same_answer_to_a_question_at_every_checkpoint(contexts: str, asked: Asked):
    probes, replies, _ = asked(CONTEXTS[contexts], "none")
    answers: dict[str | None, set[str | None]] = {}
    for probe, reply in zip(probes, replies, strict=True):
        answers.setdefault(probe.question_id, set()).add(reply.parsed)
    assert all(len(given) == 1 for given in answers.values()), answers

    # And whatever remembers is at checkpoint 0 what remembers nothing.
    first = {reply.probe_id: reply.parsed for reply in replies if reply.checkpoint == 0}
    for memory in ("perfect", "overwriting", "ignoring", "oracle"):
        again = asked(CONTEXTS[contexts], memory)[1]
        assert {reply.probe_id: reply.parsed for reply in again if reply.checkpoint == 0} == first
