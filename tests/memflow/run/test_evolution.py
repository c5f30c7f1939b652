"""Self-evolution on amemgym_demo with the scripted chat: the case that is built so that it can improve.

`narrow` keeps one kind of information, of which the questions want none. Told nothing it stays as it is; told the
questions, or all that became of them, its list grows, and with it what it holds and what it answers rightly.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count, pairwise

import pytest
from generated import Generated, generate

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.api import AssistantResults, Benchmark
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.chat.requests import ChatRequest, Completion, Sampling
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.errors import BadInput
from memflow.memories import registry
from memflow.memories.evolving import POLICY
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import FAILURE, Memory, Tools
from memflow.memories.registry import MemoryConfig
from memflow.memories.user_memories import UserMemory
from memflow.metrics.choice import accuracy
from memflow.records import Claim, Policy, Reply, Score
from memflow.run.answer import answer_all
from memflow.run.evolution import Environment, add_checkpoints, count_events, evolves, play_assistant
from memflow.run.handlers import handlers
from memflow.run.play import Episode, Event, PlayedEpisode
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
class Asked:
    """A chat that counts what it is asked, and answers the same request once, as the ledger does."""

    inner: ScriptedChat
    kept: dict[str, Completion]
    seen: list[ChatRequest]
    scripted: bool = True
    sampling: Sampling = field(default_factory=Sampling)

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
class Lived:
    """An assistant measured on the demo."""

    played: list[PlayedEpisode]
    policies: list[Policy]
    replies: list[Reply]
    claims: list[Claim]
    figures: dict[tuple[str, str], Score]
    while_played: Counter[str]
    """Prompts asked while it was played, and how often."""
    afterwards: Counter[str]
    chat: Asked

    def value(self, metric: str, part: str = "all") -> float:
        value = self.figures[metric, part].value
        assert value is not None
        return value


def users() -> Generated:
    return generate("amemgym_demo")


def environment(name: str, chat: Asked, bench: Benchmark = BENCH) -> Environment:
    made = users()
    return Environment(bench, made.domain, name, chat, chat, made.turns, made.probes)


def measure(name: str, over: dict[str, Handler] | None = None) -> Lived:
    return asyncio.run(_measured(users(), name, over))  # a dry run has a loop of its own


async def _measured(made: Generated, name: str, over: dict[str, Handler] | None) -> Lived:
    chat = Asked(ScriptedChat({**handlers(), **(over or {})}), {}, [])
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
    return Lived(played, policies, replies, claims, figures, while_played, afterwards, chat)


@cache
def lived(name: str) -> Lived:
    return measure(name)


def test_feedback_lifts_accuracy_and_factual_recall_and_none_leaves_them() -> None:
    """Line 6: no evolution < the questions < complete feedback < a second life with what was learnt."""
    names = ("flat", "questions", "complete", "cycles_1")
    for metric in ("accuracy", "factual_recall"):
        values = [lived(name).value(metric) for name in names]
        assert values == sorted(values) and len(set(values)) == len(values), (metric, values)
    assert lived("flat").policies == []
    # What was told before anything was learnt is lost to both, and period 0 knows no feedback yet.
    for metric in ("accuracy", "factual_recall"):
        assert len({lived(name).value(metric, "period 0") for name in names[:3]}) == 1
        assert lived("complete").value(metric, "period 3") > lived("flat").value(metric, "period 3")


def test_without_feedback_factual_recall_stays_at_what_it_was() -> None:
    flat = lived("flat")
    assert [flat.value("factual_recall", f"period {period}") for period in range(4)] == [0, 0, 0, 0]


def test_by_period_there_is_a_policy_for_every_period_and_it_only_grows_wider() -> None:
    for name in ("questions", "complete"):
        of_user: dict[str, list[Policy]] = {}
        for step in lived(name).policies:
            of_user.setdefault(step.episode_id, []).append(step)
        assert len(of_user) == 3
        for steps in of_user.values():
            assert [step.step for step in steps] == [0, 1, 2, 3]
            assert [step.checkpoint for step in steps] == [None, 0, 1, 2]
            assert [step.cycle for step in steps] == [0, 0, 0, 0]
            assert [step.asked for step in steps] == [0, 4, 4, 4]
            assert steps[0].kinds == list(NARROW["kinds"])
            assert all(set(one.kinds) <= set(two.kinds) for one, two in pairwise(steps))
            assert [step.since for step in steps] == sorted({step.since for step in steps})


def test_what_a_step_says_was_right_is_what_the_period_scored() -> None:
    scored = lived("complete")
    for period in range(3):
        steps = [step for step in scored.policies if step.checkpoint == period]
        right = sum(step.correct for step in steps) / sum(step.answered for step in steps)
        assert right == pytest.approx(scored.value("accuracy", f"period {period}"))


def test_a_policy_is_in_force_from_the_period_after() -> None:
    found = lived("complete")
    said = transcript_rows("d", "a", found.played)
    pasts = episode_histories(entry_rows("d", "a", found.played), said, users().probes)
    for played in found.played:
        steps = [step for step in found.policies if step.episode_id == played.episode_id]
        for period, step in enumerate(steps):
            [policy] = pasts[played.episode_id].at(period).live(POLICY)
            assert policy.meta["kinds"] == step.kinds


def test_what_was_asked_while_playing_is_not_asked_again() -> None:
    """Of 4 periods, those of 3 were asked of the living memory; state probes are not part of feedback."""
    found = lived("complete")
    choices = ("amemgym/choice", "amemgym/choice_with_notes")
    assert sum(found.while_played[name] for name in choices) == 3 * 3 * 4
    assert sum(found.afterwards[name] for name in choices) == 3 * 1 * 4
    assert found.while_played["awi/evolve"] == 3 * 3
    assert lived("flat").while_played["amemgym/choice"] == 0


def test_by_episode_each_cycle_is_the_assistant_with_as_many_cycles() -> None:
    twice = lived("cycles_2")
    for cycle in (0, 1):
        alone = lived(f"cycles_{cycle}")
        assert twice.value("accuracy", f"cycle {cycle}") == pytest.approx(alone.value("accuracy"))
    assert twice.value("accuracy", "cycle 2") == twice.value("accuracy")
    assert twice.figures["accuracy", "cycle 0"].n == twice.figures["accuracy", "all"].n
    assert [step.cycle for step in twice.policies[:3]] == [0, 1, 2]
    assert {step.since for step in twice.policies} == {0}
    assert [step.kinds for step in lived("cycles_1").policies] == [
        step.kinds for step in twice.policies if step.cycle < 2
    ]
    assert lived("cycles_0").value("accuracy") == lived("flat").value("accuracy")
    assert ("accuracy", "cycle 0") not in lived("cycles_0").figures


def test_no_memory_is_told_what_the_evolver_is_told() -> None:
    """Of everything that is told to the evolver alone, nothing stands in an entry or in any other prompt."""
    mark = "marked-as-gold"

    class Marking(AMemGym):
        def build_evolution_feedback(self, *given: object) -> str:
            told = super().build_evolution_feedback(*given)  # type: ignore[arg-type]
            return told[:-1] + f', "mark": "{mark}"}}'

    async def played(made: Generated) -> tuple[list[PlayedEpisode], Asked]:
        chat = Asked(ScriptedChat(handlers()), {}, [])
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


def test_a_step_that_fails_is_a_row_with_its_reason_and_the_policy_stays() -> None:
    def stubborn(request: ChatRequest) -> str:
        """Fails where the feedback is on period 1."""
        if '"period": 1,' in request.fields["feedback"]:
            return "no JSON"
        answer = handlers()["awi/evolve"](request)
        return answer if isinstance(answer, str) else answer.model_dump_json()

    found = measure("complete", {"awi/evolve": stubborn})
    for user in {step.episode_id for step in found.policies}:
        first, second, failed, last = (step for step in found.policies if step.episode_id == user)
        assert (second.reason, last.reason) == (None, None)
        assert failed.reason is not None and "no usable answer in 3 attempts" in failed.reason
        assert failed.kinds == second.kinds and failed.checkpoint == 1 and failed.changes == []
        assert set(second.kinds) < set(last.kinds)
        assert first.kinds == list(NARROW["kinds"])
    assert not [reply for reply in found.replies if reply.reason]


def test_an_answer_that_cannot_be_read_is_counted_and_told_as_none() -> None:
    found = measure("questions", {"amemgym/choice": lambda request: "perhaps"})
    silent = [step for step in found.policies if step.answered < step.asked]
    assert silent and all(step.correct <= step.answered for step in found.policies)


def test_events_are_counted_over_all_cycles() -> None:
    made, chat = users(), Asked(ScriptedChat(handlers()), {}, [])
    episodes = BENCH.episodes(made.domain, made.states, made.turns, [], chat)
    once = sum(len(episode.events) for episode in episodes)
    for name, times in (("flat", 1), ("complete", 1), ("cycles_2", 3)):
        recipe, ticks = registry.find(name, OWN), count()
        assert count_events(recipe, BENCH, episodes) == times * once
        world, remember = environment(name, chat), recipe.factory(Tools(chat))
        replier = BENCH.replier(made.domain, chat)
        asyncio.run(play_assistant(world, recipe, episodes, remember, replier, lived=partial(next, ticks)))
        assert next(ticks) == times * once


def test_checkpoints_stand_after_the_last_event_of_each() -> None:
    async def nothing(memory: Memory) -> None: ...

    given = tuple(Event(number, at, "given", ()) for number, at in enumerate((0, 0, 2, 3)))
    found = add_checkpoints(Episode("e", given), lambda episode, checkpoint: nothing)
    assert [(one.checkpoint, one.kind) for one in found.events] == [
        *[(0, "given"), (0, "given"), (0, "checkpoint")],
        *[(2, "given"), (2, "checkpoint")],
        *[(3, "given"), (3, "checkpoint")],
    ]
    some = add_checkpoints(Episode("e", given), lambda episode, checkpoint: nothing, before=3)
    assert [one.checkpoint for one in some.events if one.kind == "checkpoint"] == [0, 2]


def test_only_a_memory_with_a_policy_evolves_and_only_where_feedback_is_given() -> None:
    def recipe(name: str) -> MemoryConfig:
        return registry.find(name, OWN)

    assert evolves(recipe("complete"), BENCH)
    assert not evolves(recipe("flat"), BENCH) and not evolves(recipe("full"), BENCH)
    assert not evolves(recipe("complete"), MemoryBench())


def test_an_episode_built_on_another_is_refused() -> None:
    chat = Asked(ScriptedChat(handlers()), {}, [])
    recipe = registry.find("complete", OWN)
    with pytest.raises(BadInput, match="the episode b has a base"):
        asyncio.run(
            play_assistant(
                environment("complete", chat),
                recipe,
                [Episode("b", (), "a")],
                recipe.factory(Tools(chat)),
                None,
            )
        )


def test_a_quarantined_probe_is_no_part_of_feedback() -> None:
    made = users()
    some = [replace(probe, reason="lost") if probe.checkpoint == 1 else probe for probe in made.probes]
    chat = Asked(ScriptedChat(handlers()), {}, [])
    world = replace(environment("complete", chat), probes=some)
    assert {checkpoint for _, checkpoint in world.feedback_probes()} == {0, 2, 3}
    assert all(probe.kind == "choice" for probes in world.feedback_probes().values() for probe in probes)


def test_what_is_correct_is_what_the_metric_says() -> None:

    found = lived("published")
    assert all(step.feedback == "published_code" for step in found.policies)
    probes = {probe.probe_id: probe for probe in users().probes}
    graded = [
        accuracy(reply.parsed, probes[reply.probe_id].gold, len(probes[reply.probe_id].options))
        for reply in found.replies
        if probes[reply.probe_id].kind == "choice" and reply.checkpoint == 0 and reply.parsed
    ]
    assert sum(step.correct for step in found.policies if step.checkpoint == 0) == sum(graded)
