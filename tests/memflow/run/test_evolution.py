"""Self-evolution on amemgym_demo with the scripted chat.

The memory `narrow` keeps one kind of information, which the questions do not ask for. Without feedback it does not
change. With the questions or complete feedback, it adds kinds and its scores rise.
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

import pytest
from generated import Generated, generate

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.api import AssistantResults, Benchmark
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.errors import BadInput
from memflow.memories import registry
from memflow.memories.evolving import POLICY
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import FAILURE, Tools
from memflow.memories.registry import MemoryConfig
from memflow.memories.user_memories import UserMemory
from memflow.records import Claim, Policy, Reply, Score
from memflow.run.answer import answer_all
from memflow.run.evolution import Environment, evolves, play_assistant
from memflow.run.handlers import handlers
from memflow.run.play import Episode, PlayedEpisode
from memflow.run.transcripts import entry_rows, episode_histories, memory_texts, policy_rows, transcript_rows

NARROW = {"kinds": ("profession: job, career",), "ns": 0}
OWN = {
    "flat": UserMemory(system="awi", parameters=NARROW),
    "questions": UserMemory(system="awi_questions", parameters=NARROW),
    "complete": UserMemory(system="awi_complete", parameters=NARROW),
    "published": UserMemory(system="awi_published", parameters=NARROW),
    **{
        f"cycles_{k}": UserMemory(system=f"awi_complete_cycles_{k}", parameters={**NARROW, "freq": 2})
        for k in (0, 1, 2)
    },
}
BENCH = AMemGym()


@dataclass
class CachingChat:
    """A chat that records requests and completes equal requests once, as the ledger does."""

    inner: ScriptedChat
    kept: dict[str, Completion]
    seen: list[ChatRequest]
    scripted: bool = True
    sampling: Sampling = field(default_factory=Sampling)
    bound: TokenBound = field(default_factory=TokenBound)

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    async def complete(self, request: ChatRequest) -> Completion:
        key = request.digest(self.fingerprint)
        if key not in self.kept:
            self.seen.append(request)
            self.kept[key] = replace(await self.inner.complete(request), digest=key)
        return self.kept[key]


@dataclass
class EvolvedAssistant:
    """Results of an assistant that was measured on the demo."""

    played: list[PlayedEpisode]
    policies: list[Policy]
    replies: list[Reply]
    claims: list[Claim]
    figures: dict[tuple[str, str], Score]
    while_played: Counter[str]
    """Prompts asked while it was played, and how often."""
    afterwards: Counter[str]
    chat: CachingChat

    def value(self, metric: str, part: str = "all") -> float:
        value = self.figures[metric, part].value
        assert value is not None
        return value


def users() -> Generated:
    return generate("amemgym_demo")


def environment(name: str, chat: CachingChat, bench: Benchmark = BENCH) -> Environment:
    made = users()
    return Environment(bench, made.domain, name, chat, chat, made.turns, made.probes)


def measure(name: str, over: dict[str, Handler] | None = None) -> EvolvedAssistant:
    return asyncio.run(_measured(users(), name, over))  # a dry run has a loop of its own


async def _measured(made: Generated, name: str, over: dict[str, Handler] | None) -> EvolvedAssistant:
    chat = CachingChat(ScriptedChat({**handlers(), **(over or {})}), {}, [])
    recipe, tools = registry.find(name, OWN), Tools(chat, HashingEmbedder())
    episodes = BENCH.episodes(made.domain, made.states, made.turns, [], chat)
    replier = BENCH.replier(made.domain, chat)
    played = await play_assistant(environment(name, chat), recipe, episodes, recipe.factory(tools), replier)
    while_played = Counter(request.prompt for request in chat.seen)
    chat.seen.clear()

    said, entries = (
        transcript_rows(made.domain.name, name, played),
        entry_rows(made.domain.name, name, played),
    )
    pasts = episode_histories(entries, said, made.probes)
    replies = await answer_all(BENCH, made.domain, name, made.probes, pasts, recipe.factory(tools), chat)
    afterwards = Counter(request.prompt for request in chat.seen)
    claims = BENCH.claims(made.domain, name, made.states, made.turns)
    claims = await BENCH.judge_claims(
        made.domain, claims, memory_texts(pasts, claims, {POLICY, FAILURE, "date"}), chat
    )
    values = {"cadence": "", "feedback": "", **recipe.values}
    policies = policy_rows(made.domain.name, name, values, played)
    measured = AssistantResults(
        domain=made.domain.name,
        assistant=name,
        memory=name,
        model="scripted",
        probes=made.probes,
        verdicts=make_verdicts(made.domain, made.probes, replies),
        oracle=[],
        none=[],
        simulator="",
        scripted=True,
        claims=claims,
        policies=policies,
    )
    figures = {
        (figure.metric, figure.slice): figure
        for figure in BENCH.scores(made.domain, measured)
        if figure.variant == "standard"
    }
    return EvolvedAssistant(played, policies, replies, claims, figures, while_played, afterwards, chat)


@cache
def evolved(name: str) -> EvolvedAssistant:
    return measure(name)


def test_accuracy_and_factual_recall_rise_with_the_amount_of_feedback() -> None:
    """Scores rise in this order: no evolution, questions only, complete feedback, a second cycle."""
    names = ("flat", "questions", "complete", "cycles_1")
    for metric in ("accuracy", "factual_recall"):
        values = [evolved(name).value(metric) for name in names]
        assert values == sorted(values) and len(set(values)) == len(values), (metric, values)
    assert evolved("flat").policies == []
    # What was told before anything was learnt is lost to both, and period 0 knows no feedback yet.
    for metric in ("accuracy", "factual_recall"):
        assert len({evolved(name).value(metric, "period 0") for name in names[:3]}) == 1
        assert evolved("complete").value(metric, "period 2") > evolved("flat").value(metric, "period 2")


def test_evolution_adds_one_policy_step_per_period() -> None:
    for name in ("questions", "complete"):
        of_user: dict[str, list[Policy]] = {}
        for step in evolved(name).policies:
            of_user.setdefault(step.episode_id, []).append(step)
        assert len(of_user) == 10
        for steps in of_user.values():
            assert [step.step for step in steps] == [0, 1, 2]
            assert [step.checkpoint for step in steps] == [None, 0, 1]
            assert [step.cycle for step in steps] == [0, 0, 0]
            assert [step.asked for step in steps] == [0, 2, 2]
            assert steps[0].kinds == list(NARROW["kinds"])
            assert all(set(one.kinds) <= set(two.kinds) for one, two in pairwise(steps))
            assert [step.since for step in steps] == sorted({step.since for step in steps})


def test_memory_uses_a_policy_from_the_period_after_its_feedback() -> None:
    found = evolved("complete")
    said = transcript_rows("d", "a", found.played)
    pasts = episode_histories(entry_rows("d", "a", found.played), said, users().probes)
    for played in found.played:
        steps = [step for step in found.policies if step.episode_id == played.episode_id]
        for period, step in enumerate(steps):
            [policy] = pasts[played.episode_id].at(period).live(POLICY)
            assert policy.meta["kinds"] == step.kinds


def test_probes_answered_for_feedback_are_not_requested_again() -> None:
    """The probes of 2 of 3 periods are answered while playing. State probes are not part of the feedback."""
    found = evolved("complete")
    choices = ("amemgym/choice", "amemgym/choice_with_notes")
    last = {probe.probe_id for probe in users().probes if probe.checkpoint == 2}
    asked = {reply.completion: reply.probe_id in last for reply in found.replies if "/q" in reply.probe_id}
    # Two users can share a question before anything is stored of them, and so its request.
    assert sum(found.while_played[name] for name in choices) == list(asked.values()).count(False) > 30
    assert sum(found.afterwards[name] for name in choices) == list(asked.values()).count(True) == 10 * 1 * 2
    assert found.while_played["awi/evolve"] == 10 * 2
    assert evolved("flat").while_played["amemgym/choice"] == 0


def test_feedback_text_appears_only_in_evolution_prompts() -> None:
    """A marker text in the feedback occurs in no memory entry and in no other prompt."""
    mark = "marked-as-gold"

    class Marking(AMemGym):
        def build_evolution_feedback(self, *given: object) -> str:
            told = super().build_evolution_feedback(*given)  # type: ignore[arg-type]
            return told[:-1] + f', "mark": "{mark}"}}'

    async def played(made: Generated) -> tuple[list[PlayedEpisode], CachingChat]:
        chat = CachingChat(ScriptedChat(handlers()), {}, [])
        recipe = registry.find("complete", OWN)
        episodes = BENCH.episodes(made.domain, made.states, made.turns, [], chat)
        remember, replier = recipe.factory(Tools(chat)), BENCH.replier(made.domain, chat)
        world = environment("complete", chat, Marking())
        return await play_assistant(world, recipe, episodes, remember, replier), chat

    found, chat = asyncio.run(played(users()))
    told = {request.prompt for request in chat.seen if any(mark in one.content for one in request.messages)}
    assert told == {"awi/evolve"}
    for one in found:
        assert not [item for item in one.store if mark in f"{item.text} {item.meta}"]


def test_failed_evolution_step_has_a_reason_and_keeps_the_policy() -> None:
    def stubborn(request: ChatRequest) -> str:
        """Fail if the feedback is about period 0."""
        if '"period": 0,' in request.fields["feedback"]:
            return "no JSON"
        answer = handlers()["awi/evolve"](request)
        return answer if isinstance(answer, str) else answer.model_dump_json()

    found = measure("complete", {"awi/evolve": stubborn})
    for user in {step.episode_id for step in found.policies}:
        first, failed, last = (step for step in found.policies if step.episode_id == user)
        assert last.reason is None
        assert failed.reason is not None and "no usable answer in 3 attempts" in failed.reason
        assert failed.kinds == first.kinds == list(NARROW["kinds"]) and failed.changes == []
        assert failed.checkpoint == 0 and set(first.kinds) < set(last.kinds)
    assert not [reply for reply in found.replies if reply.reason]


def test_invalid_kind_of_an_evolved_policy_is_recorded_and_the_other_kinds_are_adopted() -> None:
    def careless(request: ChatRequest) -> str:
        answer = json.loads(handlers()["awi/evolve"](request).model_dump_json())
        return json.dumps({**answer, "kinds": ["", *answer["kinds"]]})

    usual, found = evolved("complete"), measure("complete", {"awi/evolve": careless})
    assert [step.kinds for step in found.policies] == [step.kinds for step in usual.policies]
    for one in found.played:
        assert [item.text for item in one.store if item.kind == FAILURE] == [
            "awi/evolve: kinds, item 1: String should have at least 1 character"
        ] * 2


def test_evolution_requires_a_memory_policy_and_a_benchmark_with_feedback() -> None:
    def recipe(name: str) -> MemoryConfig:
        return registry.find(name, OWN)

    assert evolves(recipe("complete"), BENCH)
    assert not evolves(recipe("flat"), BENCH) and not evolves(recipe("full"), BENCH)
    assert not evolves(recipe("complete"), MemoryBench())


def test_evolving_memory_rejects_an_episode_with_a_base_episode() -> None:
    chat = CachingChat(ScriptedChat(handlers()), {}, [])
    recipe = registry.find("complete", OWN)
    with pytest.raises(BadInput, match="the episode b has a base episode"):
        asyncio.run(
            play_assistant(
                environment("complete", chat),
                recipe,
                [Episode("b", (), "a")],
                recipe.factory(Tools(chat)),
                None,
            )
        )


def test_evolution_feedback_excludes_quarantined_probes_and_state_probes() -> None:
    made = users()
    some = [replace(probe, reason="lost") if probe.checkpoint == 1 else probe for probe in made.probes]
    chat = CachingChat(ScriptedChat(handlers()), {}, [])
    world = replace(environment("complete", chat), probes=some)
    assert {checkpoint for _, checkpoint in world.feedback_probes()} == {0, 2}
    assert all(probe.kind == "choice" for probes in world.feedback_probes().values() for probe in probes)
