"""A rehearsal: the whole chain played in memory by the scripted chat, to see what a run would ask its models.

It keeps nothing, asks nobody and waits for nothing. Time is imagined: a request takes `latency` seconds, and
a model answers `concurrency` of them at once, so that requests that wait for each other take their time. What
it cannot know is how long a real model's answers are: here they are as long as the scripted chat's.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from memflow.benchmarks.api import Annotators, Benchmark, States
from memflow.benchmarks.domains import Domain
from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import find
from memflow.memories.user_memories import UserMemory
from memflow.metrics.backends import MetricBackends
from memflow.records import FeedbackRound, GoldLabel, Probe, Record, Reply, Turn
from memflow.run.answer import answer_all
from memflow.run.evolution import Environment, live
from memflow.run.play import Played
from memflow.run.transcripts import entries_of, held_at, pasts_of, said_of
from memflow.tokens import estimate

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """A model, as far as a plan has to know it."""

    sampling: Sampling = field(default_factory=Sampling)
    concurrency: int = 64
    fingerprint: str = ""
    """Its own; models of one fingerprint are one. Where there is none, every name is a model."""
    scripted: bool = True


@dataclass(frozen=True)
class Cast:
    """Who plays: the models by name, the model of each role, and the model that answers for an assistant."""

    parts: Mapping[str, Part]
    roles: Mapping[str, str]
    answering: Callable[[str], str]


@dataclass
class Tally:
    """What a stage asks of one model in one role. `most_tokens` is what its answers' limits sum up to."""

    role: str
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    most_tokens: int = 0


@dataclass(frozen=True)
class Act:
    """One stage of one partition: what it asks, and how many seconds it takes."""

    stage: str
    domain: str
    assistant: str
    seconds: float
    tallies: tuple[Tally, ...]


@dataclass(frozen=True)
class Users:
    """What a domain holds before any memory is measured on it."""

    domain: Domain
    states: States
    turns: list[Turn]
    probes: list[Probe]
    feedback: list[FeedbackRound]
    keys: list[GoldLabel] = field(default_factory=list)


class Rehearsal:
    """Plays and counts. Identical requests to a model count once, since the ledger has them answered once."""

    def __init__(
        self,
        cast: Cast,
        handlers: Mapping[str, Handler],
        *,
        own: Mapping[str, UserMemory] | None = None,
        latency: float = 1.0,
    ) -> None:
        self.cast = cast
        self.own = own
        self.latency = latency
        self.acts: list[Act] = []
        self.scripted = {
            name: ScriptedChat(handlers, name=part.fingerprint or name) for name, part in cast.parts.items()
        }
        self.kept: dict[str, Completion] = {}

    def build(self, benchmark: Benchmark, domain: Domain, records: Sequence[Record]) -> Users:
        """Play the left half of the walk: states, utterances, keys, probes and feedback of a domain."""

        async def states(on: _Stage) -> States:
            return await benchmark.states(domain, records, on.role("simulator"))

        async def turns(on: _Stage) -> list[Turn]:
            return await benchmark.turns(domain, records, made, on.role("simulator"))

        async def questions(on: _Stage) -> tuple[list[GoldLabel], list[Probe]]:
            annotated = benchmark.annotation_prompts(domain)
            annotators = Annotators(on.role("annotator"), on.role("verifier")) if annotated else None
            keys = await benchmark.keys(domain, records, said, annotators)
            probes = await benchmark.probes(domain, records, made, said, on.role("simulator"), keys)
            return keys, probes

        async def feedback(on: _Stage) -> list[FeedbackRound]:
            backbone = on.role("backbone")
            tools = Tools(backbone, HashingEmbedder())
            return await benchmark.feedback(domain, said, asked, backbone, on.role("simulator"), tools)

        made = self._play("state", domain, "", states)
        said = self._play("utterance", domain, "", turns)
        keys, asked = self._play("question", domain, "", questions)
        return Users(domain, made, said, asked, self._play("feedback", domain, "", feedback), keys)

    def measure(self, benchmark: Benchmark, users: Users, assistant: str) -> list[Reply]:
        """Play the right half for one assistant: its episodes, every probe asked of it, and what is judged of it."""
        domain = users.domain
        recipe = find(assistant.partition("@")[0], self.own)
        probes = [probe for probe in users.probes if probe.split == "test"]

        async def memory(on: _Stage) -> list[Played]:
            simulator, answering, tools = on.role("simulator"), on.answering(assistant), on.tools(assistant)
            episodes = benchmark.episodes(
                domain, users.states, users.turns, users.feedback, simulator, users.probes
            )
            world = Environment(benchmark, domain, assistant, answering, tools.chat, users.turns, probes)
            replier = benchmark.replier(domain, answering)
            return await live(world, recipe, episodes, recipe.factory(tools), replier)

        async def answer(on: _Stage) -> list[Reply]:
            remember = recipe.factory(on.tools(assistant))
            return await answer_all(
                benchmark, domain, assistant, probes, pasts, remember, on.answering(assistant)
            )

        played = self._play("memory", domain, assistant, memory) if recipe.system.needs_playing else []
        said, entries = said_of(domain.name, assistant, played), entries_of(domain.name, assistant, played)
        pasts = pasts_of(entries, said, probes)
        replies = self._play("answer", domain, assistant, answer)
        if benchmark.judge_prompts(domain, "score.verdicts"):
            self._play(
                "score",
                domain,
                assistant,
                lambda on: benchmark.verdicts(domain, probes, replies, MetricBackends(on.role("judge"))),
            )
        claims = (
            benchmark.claims(domain, assistant, users.states, users.turns)
            if recipe.system.recalls_entries
            else []
        )
        held = held_at(pasts_of(entries, said, claims), claims, recipe.system.memory.bookkeeping_kinds)
        if claims:
            self._play(
                "score",
                domain,
                assistant,
                lambda on: benchmark.judge_claims(domain, claims, held, on.role("judge")),
            )
        return replies

    def _play(
        self, stage: str, domain: Domain, assistant: str, work: Callable[["_Stage"], Coroutine[Any, Any, T]]
    ) -> T:
        on = _Stage(self)
        result, seconds = _imagined(work(on))
        tallies = tuple(tally for tally in on.tallies.values() if tally.calls)
        self.acts.append(Act(stage, domain.name, assistant, seconds, tallies))
        return result


class _Stage:
    """The chats of one stage, each with its tally; roles of one model share its concurrency."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        self.tallies: dict[tuple[str, str], Tally] = {}
        self._limits: dict[str, asyncio.Semaphore] = {}

    def role(self, role: str) -> Chat:
        return self._counting(role, self.rehearsal.cast.roles[role])

    def answering(self, assistant: str) -> Chat:
        return self._counting("assistant", self.rehearsal.cast.answering(assistant))

    def tools(self, assistant: str) -> Tools:
        return Tools(self._counting("memory", self.rehearsal.cast.answering(assistant)), HashingEmbedder())

    def _counting(self, role: str, model: str) -> Chat:
        tally = self.tallies.setdefault((role, model), Tally(role, model))
        part = self.rehearsal.cast.parts[model]
        limit = self._limits.setdefault(model, asyncio.Semaphore(part.concurrency))
        return _CountingChat(self.rehearsal, self.rehearsal.scripted[model], part, tally, limit)


class _CountingChat:
    """Answers as the scripted chat does, and is taken for the model that it stands for."""

    def __init__(
        self,
        rehearsal: Rehearsal,
        inner: ScriptedChat,
        part: Part,
        tally: Tally,
        limit: asyncio.Semaphore,
    ) -> None:
        self.rehearsal = rehearsal
        self.inner = inner
        self.sampling = part.sampling
        self.scripted = part.scripted
        self.tally = tally
        self.limit = limit
        self.fingerprint = inner.fingerprint

    async def complete(self, request: ChatRequest) -> Completion:
        kept = self.rehearsal.kept
        key = request.digest(self.fingerprint)
        if key in kept:
            return kept[key]
        completion = kept[key] = replace(await self.inner.complete(request), digest=key)
        self.tally.calls += 1
        self.tally.prompt_tokens += sum(estimate(message.content) for message in request.messages)
        self.tally.completion_tokens += estimate(completion.text)
        self.tally.most_tokens += request.sampling.max_tokens
        async with self.limit:
            await asyncio.sleep(self.rehearsal.latency)
        return completion


class _ImaginedClock(selectors.DefaultSelector):
    """Where a loop would wait until something is due, time jumps to it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout > 0:
            self.now += timeout
            timeout = 0
        return super().select(timeout)


class _ImaginedLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: _ImaginedClock) -> None:
        self._clock = clock
        super().__init__(clock)

    def time(self) -> float:
        return self._clock.now


def _imagined(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What comes of `work`, and the seconds it would have taken."""
    clock = _ImaginedClock()
    with asyncio.Runner(loop_factory=lambda: _ImaginedLoop(clock)) as runner:
        return runner.run(work), clock.now
