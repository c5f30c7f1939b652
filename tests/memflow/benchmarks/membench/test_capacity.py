"""Capacity: checkpoints of questions, token counts, and the knee of memories with and without forgetting."""

import random
from dataclasses import dataclass, replace

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.api import AssistantResults, States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.capacity import (
    BEFORE,
    BEYOND,
    CAPACITY,
    IN_ALL,
    checkpoint_per_step,
    probes_at_end,
    probes_per_step,
    width_of,
)
from memflow.benchmarks.membench.kinds import find_kind
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.turns import ChoiceQuestion, Step, Trajectory, turn_rows
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Memory, Recall, Tools, parameter
from memflow.memories.registry import find
from memflow.metrics.backends import MetricBackends
from memflow.plots.charts import chart
from memflow.run.answer import answer_all
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows
from memflow.tokens import estimate

BENCH = MemBench()
DOMAIN = Domain("d", "membench", (), "", {"scene": "observation", "protocol": "capacity"})
CHAT = ScriptedChat(registry.handlers(), name="scripted")
WORDS = ("river", "stone", "paper", "market", "evening", "report", "window", "garden", "meeting", "ticket")


@dataclass
class Newest(Memory):
    """A memory of the newest messages that fit into `tokens` tokens."""

    tokens: int = parameter(600, "Tokens that are kept.")

    async def write(self, messages):
        for message in messages:
            self.store.add("kept", message.text, sources=(message.message_id,))
        entries = self.store.live("kept")
        while sum(estimate(item.text) for item in entries) > self.tokens:
            self.store.retire(entries.pop(0).entry_id)

    async def read(self, query, frozen=True):
        entries = self.store.live("kept")
        return Recall(notes="\n".join(item.text for item in entries), entries=tuple(entries))


def trajectory_of(number, steps):
    name = f"observation/simple/roles/{number}"
    return Trajectory(name, "d", "observation", find_kind("simple"), "roles", "en", tuple(steps))


def trajectory(number, steps=80, within=0.5):
    """Return a trajectory with one fact in its first part."""
    chance = random.Random(number)
    said = [Step(" ".join(chance.choices(WORDS, k=chance.randint(6, 24)))) for _ in range(steps)]
    fact_at, gold = chance.randrange(int(within * steps)), chance.randrange(4)
    hobbies = [f"hobby {number}x{option}" for option in "abcd"]
    said[fact_at] = Step(f"My aunt Vera spends her days with {hobbies[gold]}")
    made = trajectory_of(number, said)
    question = "What does my aunt Vera spend her days with?"
    query = ChoiceQuestion(
        question, None, tuple(hobbies), gold + 1, hobbies[gold], (made.message_id(fact_at),)
    )
    return replace(made, questions=(query,))


def rows(trajectories):
    turns = checkpoint_per_step([turn for each in trajectories for turn in turn_rows("d", each)])
    return turns, probes_per_step([probe for each in trajectories for probe in probe_rows("d", each)], turns)


async def scores(name, remember, trajectories):
    """Return the scores of a memory whose questions are asked during the trajectories."""
    turns, probes = rows(trajectories)
    played = await play_all(BENCH.episodes(DOMAIN, States([]), turns, [], CHAT), remember, None)
    pasts = episode_histories(entry_rows("d", name, played), transcript_rows("d", name, played), probes)
    replies = await answer_all(BENCH, DOMAIN, name, probes, pasts, remember, CHAT)
    assert not [reply.reason for reply in replies if reply.reason]
    verdicts = await BENCH.verdicts(DOMAIN, probes, replies, MetricBackends())
    measured = AssistantResults("d", name, name, "scripted", probes, verdicts, [], [], "", True)
    return BENCH.scores(DOMAIN, measured)


def one(found, metric, name="all", variant="standard"):
    [score] = [each for each in found if (each.metric, each.slice, each.variant) == (metric, name, variant)]
    return score


@pytest.mark.parametrize("tokens", [300, 700])
async def test_capacity_knee_equals_token_limit_of_memory_with_newest_messages(tokens):
    made = [trajectory(number) for number in range(24)]
    found = await scores("newest", lambda store: Newest(store, tokens=tokens), made)
    knee = one(found, CAPACITY)
    assert abs(knee.value - tokens) <= 0.1 * tokens and knee.low <= tokens <= knee.high
    assert (knee.n_episodes, knee.reason) == (24, None)
    assert one(found, "accuracy", BEFORE).value > 0.95 and one(found, "accuracy", BEYOND).value < 0.35
    curve = [each for each in found if each.slice.startswith("tokens ") and each.metric == "accuracy"]
    last = tokens - width_of(2000)
    of_evidence = [each for each in curve if each.variant == "standard"]
    early = [each for each in of_evidence if int(each.slice.removeprefix("tokens ")) <= last]
    assert all(each.value > 0.95 for each in early)


@pytest.mark.parametrize("name", ["full", "bm25_message", "oracle", "none"])
async def test_memory_without_lost_evidence_or_without_entries_has_no_capacity_knee(name):
    made = [trajectory(number, steps=40) for number in range(12)]
    found = await scores(name, find(name).factory(Tools()), made)
    for variant in ("standard", IN_ALL):
        knee = one(found, CAPACITY, variant=variant)
        assert knee.value is None and knee.low is None
        assert knee.reason.startswith("accuracy has no lasting drop within ")
        assert not [each for each in found if each.slice in (BEFORE, BEYOND)]
    if name != "none":
        assert one(found, "accuracy").value == 1.0


def test_capacity_question_is_asked_after_evidence_and_after_each_later_message():
    said = tuple(Step("x" * 4 * size) for size in (3, 5, 7, 11))
    made = trajectory_of(1, said)
    evidence = (made.message_id(2), made.message_id(1))
    made = replace(made, questions=(ChoiceQuestion("q?", None, ("a", "b"), 1, "a", evidence),))
    turns, probes = rows([made])
    assert [turn.checkpoint for turn in turns] == [0, 1, 2, 3]
    assert [(each.probe_id, each.checkpoint, each.said_tokens, each.since_tokens) for each in probes] == [
        ("observation/simple/roles/1/q0/after2", 2, 15, 12),
        ("observation/simple/roles/1/q0/after3", 3, 26, 23),
    ]
    [query] = probes_at_end(list(probe_rows("d", made)), turns)
    assert (query.probe_id, query.checkpoint) == ("observation/simple/roles/1/q0", 0)
    assert (query.said_tokens, query.since_tokens) == (26, 23)


def test_quarantined_question_or_question_without_evidence_is_asked_once():
    made = trajectory(3, steps=10)
    lost = replace(made, questions=(replace(made.questions[0], reason="its options are twice the same"),))
    vague = replace(made, questions=(replace(made.questions[0], evidence=()),))
    for each, since in ((lost, True), (vague, False)):
        _, [probe] = rows([each])
        assert probe.checkpoint == 9 and probe.said_tokens
        assert (probe.since_tokens is not None) == since
    turns, [probe] = rows([replace(made, reason="it is damaged")])
    assert all(turn.reason for turn in turns) and probe.reason == "it is damaged"


async def test_chart_of_accuracy_over_tokens_has_a_curve_for_each_memory():
    made = [trajectory(number, steps=50) for number in range(12)]
    found = await scores("newest", lambda store: Newest(store, tokens=400), made)
    found += await scores("full", find("full").factory(Tools()), made)
    drawn = chart(found, "d", "accuracy")
    assert [curve.name for curve in drawn.curves] == [
        "full",
        "newest",
    ] and drawn.title == "Accuracy by tokens, d"
    full, newest = drawn.curves
    assert {point.value for point in full.points} == {1.0}
    assert newest.points[0].value == 1.0 and newest.points[-1].value < 0.5
    assert drawn.beside
