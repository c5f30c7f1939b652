"""The pipeline steps that evaluate one assistant in one domain.

play.py plays an episode, answer.py answers a probe, and memflow/scoring computes scores from verdicts.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.capabilities import MemoryClaims, SimulatedFeedback
from memflow.benchmarks.domains import Domain
from memflow.chat.conversation import ASSISTANT
from memflow.chat.requests import Chat
from memflow.errors import BadSettings, MemflowError
from memflow.judges.withheld import without_withheld
from memflow.memories.baselines import PreviousState
from memflow.memories.external import DatedQuery, ExternalMemory
from memflow.memories.registry import MemoryConfig
from memflow.memories.server.capabilities import NO_CONTENT, declared_capabilities, is_server
from memflow.metrics.backends import EMBEDDER
from memflow.records import Claim, FailureAttribution, Probe, Reply
from memflow.run.answer import EpisodeHistory, answer_all
from memflow.run.context import StepContext, Tables
from memflow.run.evolution import Environment, count_events, evolves, play_assistant
from memflow.run.health import observe_episodes, search_again, traits
from memflow.run.play import EpisodeQueries, PlayedEpisode
from memflow.run.restored_memory import restored_memory_check
from memflow.run.transcripts import (
    entry_rows,
    episode_batches,
    episode_histories,
    memory_texts,
    policy_rows,
    transcript_rows,
)
from memflow.run.unasked import reads_memory, search_text
from memflow.scoring.attribution import attribute, sequence_numbers
from memflow.scoring.health.measures import measure_all, nothing_to_measure
from memflow.scoring.judges import average_judges


def plays_probes(benchmark: Benchmark, domain: Domain, memory: MemoryConfig) -> bool:
    """Return whether probes are asked during play, because the memory evolves or the domain requires it."""
    on_policy = isinstance(benchmark, SimulatedFeedback) and benchmark.plays_probes(domain)
    return on_policy or evolves(memory, benchmark)


def reads_probes(benchmark: Benchmark, domain: Domain, memory: MemoryConfig) -> bool:
    """Return whether playing an episode needs probes: to ask them, or to give their queries to an external memory."""
    return plays_probes(benchmark, domain, memory) or needs_queries(memory)


def needs_queries(memory: MemoryConfig) -> bool:
    """Return whether a memory has state outside its store and needs the queries of each checkpoint during play."""
    system = memory.system.memory
    return issubclass(system, ExternalMemory) and system.needs_queries(memory.values)


def check_previous_state(benchmark: Benchmark, domain: Domain, memory: MemoryConfig) -> None:
    """Raise BadSettings for the memory `previous` in a domain whose gold never changes."""
    if issubclass(memory.system.memory, PreviousState) and not benchmark.has_previous_state(domain):
        raise BadSettings(
            f"the memory {memory.name} cannot be run in {domain.name}, where no question has a previous state. Run it "
            "without this memory or in another domain."
        )


async def play_episodes(context: StepContext) -> Tables:
    """Play every episode with the assistant's memory."""
    domain, assistant, memory = context.domain, context.assistant, context.memory
    ASSISTANT.set((domain.name, assistant))
    check_previous_state(context.benchmark, domain, memory)
    episodes = await _play_partition(context) if memory.system.memory.needs_playing else []

    # A generator, so that the rows of only one episode are in RAM while a table is written.
    def by_episode(to_rows: Callable[[str, str, list[PlayedEpisode]], list[Any]]) -> Iterator[Any]:
        return (row for item in episodes for row in to_rows(domain.name, assistant, [item]))

    benchmark = context.benchmark
    rounds = benchmark.rounds(domain, assistant, episodes) if isinstance(benchmark, SimulatedFeedback) else []
    return {
        "memory.transcripts": by_episode(transcript_rows),
        "memory.indexes": by_episode(entry_rows),
        "memory.policies": policy_rows(domain.name, assistant, memory.values, episodes),
        "memory.feedback": rounds,
    }


async def _play_partition(context: StepContext) -> list[PlayedEpisode]:
    """Play all episodes of the domain with the assistant's memory."""
    domain, benchmark = context.domain, context.benchmark
    memory, assistant = context.memory, context.assistant
    turns = context.rows("utterance.turns")
    queries = {}
    if needs_queries(memory):
        queries = episode_queries(benchmark, domain, context.rows("question.probes"))
    probes = context.rows("question.probes") if plays_probes(benchmark, domain, memory) else []
    simulator = await context.models.role("simulator")
    episodes = benchmark.episodes(
        domain, context.states(), turns, context.rows("feedback.sessions"), simulator, probes
    )
    chat, tools = await context.models.answering(assistant), await context.models.tools(assistant)
    remember = memory.factory(tools)
    return await play_assistant(
        Environment(benchmark, domain, assistant, chat, tools.chat, turns, probes),
        memory,
        episodes,
        remember,
        benchmark.replier(domain, chat),
        on_event=context.models.expect(count_events(memory, benchmark, episodes)),
        clock=context.clock,
        queries=queries,
        observer=restored_memory_check(
            benchmark, domain, memory, episodes, context.later_probes or probes, remember
        ),
    )


def episode_queries(
    benchmark: Benchmark, domain: Domain, probes: Sequence[Probe]
) -> dict[str, EpisodeQueries]:
    """Return the search queries of the test probes by episode: texts and times only, without gold."""
    checkpoints: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    messages: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for probe in probes:
        if probe.split == "test" and probe.reason is None and reads_memory(probe):
            try:
                text = search_text(benchmark, domain, probe)
                query = DatedQuery(text, probe.asked_at)
            except (MemflowError, KeyError):
                continue  # its reply will have the reason
            if probe.after is None:
                checkpoints[probe.episode_id][probe.checkpoint].append(query)
            else:
                messages[probe.episode_id][probe.after].append(query)
    return {
        episode: EpisodeQueries(checkpoints[episode], messages[episode])
        for episode in {*checkpoints, *messages}
    }


async def answer_probes(context: StepContext) -> Tables:
    """Answer each probe with the memory as of the probe's checkpoint."""
    ASSISTANT.set((context.domain.name, context.assistant))
    probes = context.test_probes()
    replies = await _answer_from_rows(context, probes, context.models.expect(len(probes)))
    return {"answer.replies": (replies.pop(probe.probe_id) for probe in probes)}


class _OfEpisode(Protocol):
    @property
    def episode_id(self) -> str: ...


R = TypeVar("R", bound=_OfEpisode)


async def _answer_from_rows(
    context: StepContext, probes: Sequence[Probe], on_answer: Callable[[], None]
) -> dict[str, Reply]:
    """Answer probes with memories that are restored from the stored entries. Return the replies by probe.

    The entries of EPISODES_AT_ONCE episodes are read at a time: vectors of all episodes take gigabytes.
    """
    chat = await context.models.answering(context.assistant)
    remember = context.memory.factory(await context.models.tools(context.assistant))
    replies: dict[str, Reply] = {}
    for batch in _batch_rows_by_episode(probes):
        episodes = {probe.episode_id for probe in batch}
        batch_replies = await answer_all(
            context.benchmark,
            context.domain,
            context.assistant,
            batch,
            episode_histories(
                context.stream("memory.indexes", episodes=episodes),
                context.stream("memory.transcripts", episodes=episodes),
                batch,
            ),
            remember,
            chat,
            on_answer=on_answer,
            clock=context.clock,
        )
        replies.update((reply.probe_id, reply) for reply in batch_replies)
    return replies


def _batch_rows_by_episode(rows: Iterable[R]) -> Iterator[list[R]]:
    """Yield the rows of up to EPISODES_AT_ONCE episodes as lists; episodes are in the order of their first row."""
    by_episode: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        by_episode[row.episode_id].append(row)
    for episodes in episode_batches(by_episode):
        yield [row for episode in episodes for row in by_episode[episode]]


async def score_replies(context: StepContext) -> Tables:
    """Score each reply under the metrics of the benchmark."""
    prompts = context.benchmark.judge_prompts(context.domain, "score.verdicts")
    judges = await _judges(context) if prompts else {}
    backends = context.metric_backends(judges)
    if EMBEDDER in context.benchmark.metric_backends(context.domain):
        backends = replace(backends, embedder=await context.models.embedder())
    verdicts = await context.benchmark.verdicts(
        context.domain, context.test_probes(), context.rows("answer.replies"), backends
    )
    return {"score.verdicts": verdicts}


async def _judges(context: StepContext) -> dict[str, Chat]:
    """Return the judges of the domain by name; one that failed its calibration withholds its verdicts."""
    judges = await context.models.judges(context.domain.name)
    return without_withheld(judges, context.rows("score.calibrations"))


async def attribute_failures(context: StepContext) -> Tables:
    """Attribute each wrong answer to a write, read or utilization failure."""
    probes = context.test_probes()
    # Evidence may be in the base of an episode.
    sequence_by_message = sequence_numbers(context.stream("memory.transcripts"))
    attributions: dict[str, FailureAttribution] = {}
    for batch in _batch_rows_by_episode(probes):
        episodes = {probe.episode_id for probe in batch}
        batch_rows = attribute(
            context.domain.name,
            context.assistant,
            context.memory.system,
            sequence_by_message=sequence_by_message,
            transcript=context.stream("memory.transcripts", episodes=episodes),
            entries=list(context.stream("memory.indexes", vectors=False, episodes=episodes)),
            probes=batch,
            replies=context.stream("answer.replies", episodes=episodes),
            verdicts=context.stream("score.verdicts", episodes=episodes),
        )
        attributions.update((row.probe_id, row) for row in batch_rows)
    return {
        "score.attributions": [
            attributions[probe.probe_id] for probe in probes if probe.probe_id in attributions
        ]
    }


async def judge_claims(context: StepContext) -> Tables:
    """Judge which facts of the users' states the memory contains at each checkpoint."""
    domain, system, benchmark = context.domain, context.memory.system, context.benchmark
    if not (system.memory.recalls_entries and isinstance(benchmark, MemoryClaims)):
        return {"score.claims": []}
    turns = context.rows("utterance.turns")
    claims = benchmark.claims(domain, context.assistant, context.states(), turns)
    judges = await _judges(context) if claims else {}
    hidden_claims: list[Claim] = []
    verdicts: dict[str, list[Claim]] = {name: [] for name in judges}
    for batch in _batch_rows_by_episode(claims):
        episodes = {claim.episode_id for claim in batch}
        entries = context.stream("memory.indexes", vectors=False, episodes=episodes)
        histories = episode_histories(entries, context.stream("memory.transcripts", episodes=episodes), batch)
        hidden_episodes = _episodes_without_content(histories) if is_server(system.memory) else set()
        hidden_claims += [
            replace(claim, reason=NO_CONTENT) for claim in batch if claim.episode_id in hidden_episodes
        ]
        judged_claims = [claim for claim in batch if claim.episode_id not in hidden_episodes]
        texts = memory_texts(histories, judged_claims, system.memory.bookkeeping_kinds)
        del histories
        claims_by_judge = await asyncio.gather(
            *(benchmark.judge_claims(domain, judged_claims, texts, judge) for judge in judges.values())
        )
        for name, claims_of_judge in zip(judges, claims_by_judge, strict=True):
            verdicts[name] += claims_of_judge
    return {"score.claims": [*hidden_claims, *average_judges(verdicts, model=None)] if claims else []}


def _episodes_without_content(histories: Mapping[str, EpisodeHistory]) -> set[str]:
    """Return the ids of the episodes that were played with a memory server that does not export its items."""
    episodes = set()
    for episode, history in histories.items():
        for item in history.items:
            capabilities = declared_capabilities(item.kind, item.meta)
            if capabilities is not None and capabilities.export == "none":
                episodes.add(episode)
    return episodes


async def measure_health(context: StepContext) -> Tables:
    """Measure the health of the memory from stored rows: its writes, reads, failures and latencies."""
    if not context.memory.system.memory.recalls_entries:
        measures = nothing_to_measure(f"the memory {context.memory.system.name} stores nothing by design")
    else:
        observations = observe_episodes(context)
        measures = measure_all(observations, traits(context, observations), partial(search_again, context))
    return {"score.health": [measure.row(context.domain.name, context.assistant) for measure in measures]}
