"""The dry run: number of calls, tokens and simulated time."""

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from faulty_server import EVERYTHING
from generated import dry_run, generate

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.memories.server.config import ServerConfig
from memflow.memories.server.protocol import Capabilities, Hello
from memflow.memories.user_memories import UserMemory
from memflow.run.context import STATES
from memflow.run.dry_run import DryRun, _CountingModels, run_simulated
from memflow.tokens import estimate


def models(concurrency: int = 4) -> _CountingModels:
    return _CountingModels(dry_run(concurrency, echo=lambda request: str(request.fields["word"])))


def request(word: str) -> ChatRequest:
    return ChatRequest("echo", {"word": word}, (ChatMessage("user", f"say {word}"),), Sampling(max_tokens=10))


def calls(run: DryRun) -> int:
    return sum(count.calls for step in run.forecasts for count in step.counts)


def test_dry_run_divides_time_of_independent_requests_by_concurrency() -> None:
    counting = models(concurrency=4)
    chat = counting.chat("simulator", "small")

    async def work() -> None:
        await asyncio.gather(*(chat.complete(request(f"word{number}")) for number in range(40)))

    started = time.perf_counter()
    _, seconds = run_simulated(work())
    assert seconds == pytest.approx(10.0)
    assert time.perf_counter() - started < 2
    [count] = counting.counts.values()
    assert (count.calls, count.most_tokens) == (40, 400)
    assert count.prompt_tokens > 40


def test_dry_run_adds_latencies_of_dependent_requests() -> None:
    chat = models(concurrency=64).chat("simulator", "small")

    async def work() -> None:
        for number in range(7):
            await chat.complete(request(f"word{number}"))

    assert run_simulated(work())[1] == pytest.approx(7.0)


def test_dry_run_counts_identical_requests_once() -> None:
    counting = models()

    async def work() -> None:
        simulator, assistant = await counting.role("simulator"), await counting.answering("full")
        await asyncio.gather(*(simulator.complete(request("word")) for _ in range(5)))
        await assistant.complete(request("word"))

    run_simulated(work())
    assert sum(count.calls for count in counting.counts.values()) == 1


def test_dry_run_forecasts_steps_in_the_order_of_the_pipeline() -> None:
    made = generate.__wrapped__("amemgym_demo", 1)
    run = made.dry_run
    assert [step.step for step in run.forecasts] == ["states", "turns", "keys", "probes", "sessions"]
    run.run("domain x assistant", made.domain, "full")
    assert [(step.step, step.assistant) for step in run.forecasts[5:]] == [
        ("memories", "full"),
        ("replies", "full"),
        ("claims", "full"),
    ]
    replies = run.rows("answer.replies", made.domain.name, "full")
    assert len(replies) == len(made.probes) and not [reply for reply in replies if reply.reason]
    once = calls(run)
    run.run("domain x assistant", made.domain, "full")
    assert calls(run) == once


def test_dry_run_counts_requests_to_the_judge() -> None:
    made = generate.__wrapped__("memorybench_demo")
    made.dry_run.run("domain x assistant", made.domain, "full")
    [step] = [step for step in made.dry_run.forecasts if step.stage == "score"]
    [count] = step.counts
    replies = made.dry_run.rows("answer.replies", made.domain.name, "full")
    judged = [row for row in replies if row.probe_id.startswith(("sample_checklist", "sample_quality"))]
    assert (count.role, count.calls) == ("judge", len(judged)) and len(judged) == 4


def models_with(**profile: Any) -> _CountingModels:
    """Return simulated models whose model has a profile with these values."""
    counting = models()
    given = counting.dry_run.models
    profiles = {name: replace(each, **profile) for name, each in given.profiles.items()}
    counting.dry_run.models = replace(given, profiles=profiles)
    return counting


@pytest.mark.parametrize(("scripted", "expected"), [(False, range(100, 110)), (True, range(1, 10))])
def test_dry_run_repeats_a_text_to_the_usual_length_of_a_real_model(scripted: bool, expected: range) -> None:
    counting = models_with(scripted=scripted)
    long = replace(request("word"), usual_tokens=100)
    completion, _ = run_simulated(counting.chat("assistant", "small").complete(long))
    [count] = counting.counts.values()
    assert count.completion_tokens == estimate(completion.text) and count.completion_tokens in expected


@pytest.mark.parametrize(
    ("can", "mode"),
    [
        (None, "ask_at_once"),
        (EVERYTHING, "as_of"),
        (EVERYTHING.model_copy(update={"deterministic": False, "as_of": "none", "restore": False}), "fork"),
    ],
)
def test_dry_run_of_a_memory_server_starts_no_server(can: Capabilities | None, mode: str) -> None:
    generated, run = generate("comem_demo"), dry_run()
    hello = None if can is None else Hello(name="mine", version="1", can=can)
    run.own = {"mine": UserMemory(server=ServerConfig(command=("no-such-program",), hello=hello))}
    for table in ("utterance.turns", "question.probes", "feedback.sessions", *STATES):
        run.add(table, "comem_demo", generated.rows(table))
    run.run("domain x assistant", generated.domain, "mine")
    replies = run.rows("answer.replies", "comem_demo", "mine")
    assert {reply.reason for reply in replies} == {None}
    entries = run.rows("memory.indexes", "comem_demo", "mine")
    assert {json.loads(entry.meta)["mode"] for entry in entries if entry.kind == "server"} == {mode}
