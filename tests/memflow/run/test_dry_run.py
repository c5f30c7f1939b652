"""A rehearsal counts calls, tokens and imagined time."""

import asyncio
import time

import pytest
from pydantic import BaseModel

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import find
from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.run.dry_run import Cast, Part, Rehearsal, _imagined, _Stage
from resources.library import Library


class Echo(BaseModel):
    said: str


def rehearsal(concurrency: int = 4, latency: float = 1.0) -> Rehearsal:
    cast = Cast(
        {"small": Part(Sampling(max_tokens=10), concurrency)},
        {"simulator": "small", "judge": "small", "backbone": "small"},
        lambda assistant: "small",
    )
    handlers = {**registry.handlers(), "echo": lambda request: str(request.fields["word"])}
    return Rehearsal(cast, handlers, latency=latency)


def request(word: str) -> ChatRequest:
    return ChatRequest("echo", {"word": word}, (ChatMessage("user", f"say {word}"),), Sampling(max_tokens=10))


def test_time_is_calls_by_concurrency_where_nothing_waits_for_anything() -> None:
    on = _Stage(rehearsal(concurrency=4))
    chat = on.role("simulator")

    async def work() -> None:
        await asyncio.gather(*(chat.complete(request(f"word{number}")) for number in range(40)))

    started = time.perf_counter()
    _, seconds = _imagined(work())
    assert seconds == pytest.approx(10.0)
    assert time.perf_counter() - started < 2
    [tally] = on.tallies.values()
    assert (tally.calls, tally.most_tokens) == (40, 400)
    assert tally.prompt_tokens > 40


def test_time_is_the_chain_where_each_waits_for_the_one_before() -> None:
    chat = _Stage(rehearsal(concurrency=64)).role("simulator")

    async def work() -> None:
        for number in range(7):
            await chat.complete(request(f"word{number}"))

    assert _imagined(work())[1] == pytest.approx(7.0)


def test_what_was_asked_before_is_not_asked_again() -> None:
    played = rehearsal()
    on = _Stage(played)

    async def work() -> None:
        await asyncio.gather(*(on.role("simulator").complete(request("word")) for _ in range(5)))
        await on.answering("full").complete(request("word"))

    _imagined(work())
    assert sum(tally.calls for tally in on.tallies.values()) == 1


def test_a_domain_is_played_stage_by_stage() -> None:
    domain = find("amemgym_demo").limited(1)
    benchmark = registry.benchmark(domain.benchmark)
    records = [
        row
        for name in domain.datasets
        for row in benchmark.records(dataset(name), Library(None).paths(dataset(name)))
    ]
    played = rehearsal()
    users = played.build(benchmark, domain, records)
    assert [act.stage for act in played.acts] == ["state", "utterance", "question", "feedback"]
    replies = played.measure(benchmark, users, "full")
    stages = [(act.stage, act.assistant) for act in played.acts[4:]]
    assert stages == [("memory", "full"), ("answer", "full"), ("score", "full")]
    assert len(replies) == len(users.probes) and not [reply for reply in replies if reply.reason]
    once = sum(tally.calls for act in played.acts for tally in act.tallies)
    played.measure(benchmark, users, "full")
    assert sum(tally.calls for act in played.acts for tally in act.tallies) == once


def test_what_the_judge_is_asked_of_replies_is_counted() -> None:
    domain = find("memorybench_demo")
    benchmark = registry.benchmark(domain.benchmark)
    records = [
        row
        for name in domain.datasets
        for row in benchmark.records(dataset(name), Library(None).paths(dataset(name)))
    ]
    played = rehearsal()
    replies = played.measure(benchmark, played.build(benchmark, domain, records), "full")
    [act] = [act for act in played.acts if act.stage == "score"]
    [tally] = act.tallies
    asked = [reply for reply in replies if reply.probe_id.startswith(("sample_checklist", "sample_quality"))]
    assert (tally.role, tally.calls) == ("judge", len(asked)) and len(asked) == 4
