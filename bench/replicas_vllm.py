"""Cached prompt tokens of real vLLM servers, with and without affinity.

AMemGym users (the published ones if MEMFLOW_DATA contains them, otherwise random) are played on-policy with the memory
`full`, so each request of an episode extends the one before. The servers must serve the same model, with prefix
caching and --enable-prompt-tokens-details. Each routing has a cache salt of its own, so it begins with an empty cache.

    python -m bench.replicas_vllm URL URL [URL...]

The command prints one JSON line per routing: the share of prompt tokens that the servers report as cached in their
responses, and the hits and queries of `vllm:prefix_cache_*` in their metrics. The exit code is 1 if affinity does not
raise the share.
"""

import json
import os
import re
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvloop

from bench.measure import report
from bench.player import users_file
from bench.replicas import ROUTES, affinities
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.conversation import ASSISTANT, EPISODE
from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.run.play import play_all
from resources.endpoints import replica_set
from resources.endpoints.chat import OpenAIChat
from resources.endpoints.endpoint import Endpoint
from resources.endpoints.profiles import Profile
from resources.endpoints.routing import choose

USERS, EVENTS, ANSWER_TOKENS, CONCURRENCY = 12, 12, 32, 32
METRIC = re.compile(r"^vllm:prefix_cache_(hits|queries)_total\{[^}]*\} ([0-9.e+]+)$", re.MULTILINE)


@dataclass
class AnswersByEpisode:
    """A chat that collects the answers of another chat by episode. Answers that ANSWER_TOKENS cut count as whole."""

    inner: Chat
    answers: dict[str, list[Completion]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fingerprint, self.sampling = self.inner.fingerprint, self.inner.sampling
        self.bound, self.scripted = self.inner.bound, self.inner.scripted

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the other chat's answer."""
        answer = replace(await self.inner.complete(request), end="answered")
        self.answers.setdefault(EPISODE.get(), []).append(answer)
        return answer


def cache_metrics(urls: Sequence[str]) -> dict[str, float]:
    """Return the sums of the servers' prefix-cache hits and queries, in tokens."""
    sums = {"hits": 0.0, "queries": 0.0}
    for url in urls:
        with urllib.request.urlopen(url.removesuffix("/v1") + "/metrics") as response:
            for name, number in METRIC.findall(response.read().decode()):
                sums[name] += float(number)
    return sums


async def play_users(urls: Sequence[str], users: Path, salt: str) -> dict[str, list[Completion]]:
    """Play the first events of the users. Return the answers by episode."""
    benchmark, domain = AMemGym(), find_domain("amemgym_base").limited(USERS)
    source = find_dataset("amemgym_v1_base")
    profile = Profile(bound="none", body={"cache_salt": salt, "max_tokens": ANSWER_TOKENS})
    with urllib.request.urlopen(f"{urls[0]}/models") as response:  # noqa: ASYNC210
        model = json.load(response)["data"][0]["id"]
    endpoint = Endpoint(urls[0], other_urls=urls[1:], profile=profile, concurrency=CONCURRENCY, model=model)
    ASSISTANT.set((domain.name, "full"))
    async with OpenAIChat(urls[0], model, "bench", Sampling(temperature=1.0), endpoint=endpoint) as chat:
        collected = AnswersByEpisode(chat)
        records = benchmark.records(source, {source.files[0]: users})
        states = await benchmark.states(domain, records, collected)
        turns = await benchmark.turns(domain, records, states, collected)
        collected.answers.clear()
        episodes = benchmark.episodes(domain, states, turns, [], collected)
        cut = [replace(episode, events=episode.events[:EVENTS]) for episode in episodes]
        memory = memory_factory("full", Tools(collected, HashingEmbedder()))
        played = await play_all(cut, memory, benchmark.replier(domain, collected))
    if lost := [line.reason for episode in played for line in episode.lines if line.reason]:
        raise SystemExit(f"{len(lost)} messages failed. Fix the first error, then rerun: {lost[0]}")
    return collected.answers


def main() -> int:
    """Measure round robin, then memflow's routing. Return 1 if affinity does not raise the share of cached tokens."""
    urls, shares = sys.argv[1:], {}
    with tempfile.TemporaryDirectory() as name:
        users, from_data = users_file(Path(name))
        for route in ("round robin", "memflow"):
            before, began = cache_metrics(urls), time.perf_counter()
            replica_set.choose = ROUTES[route]  # type: ignore[assignment]
            answers = uvloop.run(play_users(urls, users, f"{route} {time.time()}"))
            replica_set.choose = choose
            after = cache_metrics(urls)
            flat = [answer for of_episode in answers.values() for answer in of_episode]
            prompt = sum(answer.prompt_tokens for answer in flat)
            cached = sum(answer.cached_tokens for answer in flat)
            shares[route] = cached / prompt
            report(
                {"name": f"vLLM {route}", "value": round(100 * cached / prompt, 1), "unit": "% cached"},
                prompt_tokens=prompt,
                cached_tokens=cached,
                hits=after["hits"] - before["hits"],
                queries=after["queries"] - before["queries"],
                requests=len(flat),
                episodes=len(answers),
                mean_affinity=round(sum(affinities([*answers.values()])) / len(answers), 3),
                latency_s=round(sum(answer.latency_s for answer in flat) / len(flat), 2),
                wall_s=round(time.perf_counter() - began, 1),
                published_users=from_data,
            )
    return 0 if shares["memflow"] > shares["round robin"] else 1


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "EMPTY")
    sys.exit(main())
