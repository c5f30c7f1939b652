"""Self-evolution: feedback improves the memory's policy while episodes are played (AMemGym, section 5, Algorithm 1).

At every checkpoint the assistant answers the benchmark's questions as in answer.py. The benchmark builds feedback,
which contains gold and is seen only by the evolver. The evolver returns the next policy. A failed step keeps the
current policy and records the reason. By `period`, this happens after every checkpoint except the last. By `episode`,
an episode is played `cycles` times from an empty memory and then once more; only the last is evaluated.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from types import MappingProxyType

from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.capabilities import EvolutionFeedback
from memflow.benchmarks.domains import Domain
from memflow.chat.asking import ask
from memflow.chat.limits import limit_prompt
from memflow.chat.requests import Chat
from memflow.errors import BadInput, BadSettings
from memflow.memories.entries import EntryStore
from memflow.memories.evolving import EvolvingMemory, PolicyStep, numbered_list
from memflow.memories.memory import Memory
from memflow.memories.registry import MemoryConfig
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Turn
from memflow.run.answer import answer_one
from memflow.run.play import (
    CheckpointHandler,
    Episode,
    EpisodeQueries,
    Event,
    PlayedEpisode,
    PlayObserver,
    Replier,
    play,
    play_all,
)
from memflow.timing import Clock


@dataclass(frozen=True)
class Environment:
    """The source of feedback while an assistant is played: the benchmark with its gold answers, and the models."""

    benchmark: Benchmark
    domain: Domain
    assistant: str
    answering: Chat
    evolver: Chat | None
    turns: Sequence[Turn]
    probes: Sequence[Probe]
    """Empty where the assistant does not evolve."""

    def feedback_probes(self) -> dict[tuple[str, int], list[Probe]]:
        """Return the probes for feedback by (episode, checkpoint): valid test probes with multiple choice."""
        by_checkpoint: dict[tuple[str, int], list[Probe]] = {}
        for probe in self.probes:
            if probe.kind == "choice" and probe.split == "test" and probe.reason is None:
                by_checkpoint.setdefault((probe.episode_id, probe.checkpoint), []).append(probe)
        return by_checkpoint


def evolves(config: MemoryConfig, benchmark: Benchmark) -> bool:
    """Return whether a memory evolves on a benchmark: it has a policy, and the benchmark provides feedback."""
    return isinstance(benchmark, EvolutionFeedback) and issubclass(config.system.memory, EvolvingMemory)


def count_events(config: MemoryConfig, benchmark: Benchmark, episodes: Iterable[Episode]) -> int:
    """Return the number of events that play processes, over all episodes and evolution cycles."""
    event_count = sum(len(episode.events) for episode in episodes)
    return event_count * (1 + _cycle_count(config)) if evolves(config, benchmark) else event_count


async def play_assistant(
    environment: Environment,
    config: MemoryConfig,
    episodes: Sequence[Episode],
    remember: Callable[[EntryStore], Memory],
    replier: Replier | None,
    *,
    on_event: Callable[[], None] = lambda: None,
    clock: Clock | None = None,
    queries: Mapping[str, EpisodeQueries] = MappingProxyType({}),
    observer: PlayObserver | None = None,
) -> list[PlayedEpisode]:
    """Play all episodes with one assistant, whose memory may evolve. Return the played episodes.

    A memory that does not evolve is played by play.play_all, which receives `queries`. The `observer` reads the
    memory during the evaluated play, not during earlier cycles.

    Raises BadInput if an episode of a memory that evolves has a base.
    """
    if not evolves(config, environment.benchmark):
        return await play_all(
            episodes, remember, replier, on_event=on_event, clock=clock, queries=queries, observer=observer
        )
    if with_base := [episode.episode_id for episode in episodes if episode.base is not None]:
        raise BadInput(
            f"the episode {with_base[0]} has a base episode, which the evolving memory {config.name} does not support. "
            "Use a memory that does not evolve."
        )
    probes = environment.feedback_probes()
    new_evolution = partial(
        _Evolution, environment, config, probes, remember, replier, on_event, clock, observer
    )
    # Each episode has an evolution of its own: its policy depends on no other episode.
    return list(await asyncio.gather(*(new_evolution().run(episode) for episode in episodes)))


def _cycle_count(config: MemoryConfig) -> int:
    return int(config.values["cycles"]) if config.values["cadence"] == "episode" else 0


@dataclass
class _Evolution:
    """The evolution of a memory's policy on one episode, over all its cycles."""

    environment: Environment
    config: MemoryConfig
    probes: Mapping[tuple[str, int], Sequence[Probe]]
    """The feedback probes by episode and checkpoint."""
    remember: Callable[[EntryStore], Memory]
    replier: Replier | None
    on_event: Callable[[], None]
    clock: Clock | None = None
    observer: PlayObserver | None = None
    steps: list[PolicyStep] = field(default_factory=list)

    async def run(self, episode: Episode) -> PlayedEpisode:
        """Play the episode in all cycles, evolve the policy, and return the last play, which is evaluated."""
        if self.config.values["cadence"] == "period":
            # The policy evolves after each checkpoint except the last, after which nothing is written.
            last_checkpoint = max((event.checkpoint for event in episode.events), default=0)
            return await self._play(
                add_checkpoints(episode, self._evolve_at, before=last_checkpoint), self.observer
            )
        # Otherwise the whole episode is played once per cycle, and the policy evolves between the plays.
        for cycle in range(1, 1 + _cycle_count(self.config)):
            replies_of_cycle: list[tuple[Probe, Reply]] = []
            await self._play(add_checkpoints(episode, self._collect(replies_of_cycle)))
            step = await self._evolve(self.steps[-1].kinds, replies_of_cycle)
            if step is not None:
                self.steps.append(replace(step, cycle=cycle))
        return await self._play(episode, self.observer)

    async def _play(self, episode: Episode, observer: PlayObserver | None = None) -> PlayedEpisode:
        memory = _as_evolving(self.remember(EntryStore()))
        if not self.steps:
            self.steps.append(PolicyStep(memory.first))
        memory.follow(self.steps)
        return await play(episode, memory, self.replier, self.on_event, self.clock, observer=observer)

    def _evolve_at(self, episode: str, checkpoint: int) -> CheckpointHandler:
        """Return the handler that evolves the policy from the replies at a checkpoint."""

        async def on_checkpoint(played_memory: Memory) -> None:
            memory = _as_evolving(played_memory)
            step = await self._evolve(memory.policy, await self._answer(memory, episode, checkpoint))
            if step is not None:
                # The next policy begins after the checkpoint, whose probes see the present policy.
                memory.store.advance(1)
                memory.follow([step])

        return on_checkpoint

    def _collect(self, replies: list[tuple[Probe, Reply]]) -> Callable[[str, int], CheckpointHandler]:
        """Return a function from (episode, checkpoint) to the handler that appends its probes and replies."""

        def checkpoint_handler(episode: str, checkpoint: int) -> CheckpointHandler:
            async def on_checkpoint(memory: Memory) -> None:
                replies.extend(await self._answer(memory, episode, checkpoint))

            return on_checkpoint

        return checkpoint_handler

    async def _answer(self, memory: Memory, episode: str, checkpoint: int) -> list[tuple[Probe, Reply]]:
        """Return the feedback probes of a checkpoint with the assistant's replies."""
        environment, probes = self.environment, self.probes.get((episode, checkpoint), ())
        answer = partial(answer_one, environment.benchmark, environment.domain, environment.assistant)
        replies = await asyncio.gather(*(answer(probe, memory, environment.answering) for probe in probes))
        return list(zip(probes, replies, strict=True))

    async def _evolve(
        self, policy: tuple[str, ...], pairs: Sequence[tuple[Probe, Reply]]
    ) -> PolicyStep | None:
        """Return the evolution step that follows `policy`; None without feedback probes. Raises BadSettings."""
        if not pairs:
            return None
        environment = self.environment
        probes, replies = (
            [probe for probe, _ in pairs],
            [reply for _, reply in pairs],
        )
        verdicts = await environment.benchmark.verdicts(environment.domain, probes, replies, MetricBackends())
        metrics = {probe.probe_id: probe.metric for probe in probes}
        values = [row.value for row in verdicts if row.metric == metrics[row.probe_id]]
        assert isinstance(
            environment.benchmark, EvolutionFeedback
        )  # only such a benchmark has feedback probes
        feedback = environment.benchmark.build_evolution_feedback(
            environment.domain, str(self.config.values["feedback"]), probes, replies, environment.turns
        )
        if environment.evolver is None:
            raise BadSettings(
                f"the memory {self.config.name} needs a chat model to evolve, but none is configured. "
                "Configure one in memflow.toml."
            )
        prompt = limit_prompt(self.config.system.memory.prompt("evolve"), self.config.values)
        answer = await ask(
            environment.evolver, prompt, {"kinds": numbered_list(policy), "feedback": feedback}
        )
        step = PolicyStep(
            kinds=policy,
            checkpoint=max(probe.checkpoint for probe in probes),
            asked=len(probes),
            answered=sum(value is not None for value in values),
            correct=sum(value == 1 for value in values),
            completion=(answer.completion.digest or None) if answer.completion else None,
        )
        if answer.value is None:
            return replace(step, reason=answer.reason or "no answer")
        kinds = tuple(dict.fromkeys(" ".join(kind.split()) for kind in answer.value.kinds))
        return replace(step, kinds=kinds, changes=tuple(answer.value.changes), failed=answer.failed)


def add_checkpoints(
    episode: Episode, handler_of: Callable[[str, int], CheckpointHandler], before: int | None = None
) -> Episode:
    """Return the episode with a checkpoint event at the end of each checkpoint < `before`; None adds it to all."""
    events: list[Event] = []
    for checkpoint, checkpoint_events in groupby(episode.events, key=lambda event: event.checkpoint):
        events += checkpoint_events
        if before is None or checkpoint < before:
            on_checkpoint = handler_of(episode.episode_id, checkpoint)
            events.append(Event(events[-1].number, checkpoint, "checkpoint", (), on_checkpoint=on_checkpoint))
    return replace(episode, events=tuple(events))


def _as_evolving(memory: Memory) -> EvolvingMemory:
    if not isinstance(memory, EvolvingMemory):
        raise BadInput(
            f"the memory {type(memory).__name__} has no policy that can evolve. Derive the class from EvolvingMemory."
        )
    return memory
