"""The dry run: number of calls, tokens and simulated time."""

import asyncio
import json
import time
from dataclasses import replace

import pytest
from faulty_server import EVERYTHING
from generated import dry_run, generate

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.memories.server.config import ServerConfig
from memflow.memories.server.protocol import Capabilities, Hello
from memflow.memories.user_memories import UserMemory
from memflow.run.answer_lengths import RecordedUse
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
    assert [step.step for step in run.forecasts] == [
        "states",
        "turns",
        "keys",
        "probes",
        "sessions",
        "calibrations",
    ]
    run.run("domain x assistant", made.domain, "full")
    assert [(step.step, step.assistant) for step in run.forecasts[6:]] == [
        ("memories", "full"),
        ("replies", "full"),
        ("claims", "full"),
    ]
    replies = run.rows("answer.replies", made.domain.name, "full")
    assert len(replies) == len(made.probes) and not [reply for reply in replies if reply.reason]
    once = calls(run)
    run.run("domain x assistant", made.domain, "full")
    assert calls(run) == once


def test_verdicts_of_a_judge_that_failed_are_null_with_the_reason_and_others_stay() -> None:
    made = generate.__wrapped__("locomo_demo")
    rows = made.rows("score.calibrations")
    assert {(row.prompt, row.language, row.passed) for row in rows} == {
        (f"locomo/{name}", "en", True) for name in ("j_2025", "j_2026", "j_strict")
    }
    reason = "not scored: the judge small accepts 52 of 52 right and 65 of 65 wrong answers"
    failed = [replace(row, passed=False, reason=reason) if row.metric == "j_2025" else row for row in rows]
    made.dry_run.add("score.calibrations", "locomo_demo", failed)
    made.dry_run.run("domain x assistant", made.domain, "full")
    verdicts = made.dry_run.rows("score.verdicts", "locomo_demo", "full")
    withheld = [row for row in verdicts if row.metric == "j_2025"]
    assert withheld and all(row.value is None and reason in row.reason for row in withheld)
    assert all(row.value is not None for row in verdicts if row.metric in ("j_2026", "locomo_f1"))
    [step] = [step for step in made.dry_run.forecasts if step.step == "verdicts"]
    assert sum(count.calls for count in step.counts) == 2 * len({row.probe_id for row in withheld})


@pytest.mark.parametrize(("domain", "metric"), [("dialogues_demo", "judged_correct"), ("amemgym_demo", "")])
def test_values_that_need_no_request_are_withheld_too(domain: str, metric: str) -> None:
    made = generate.__wrapped__(domain, 1 if domain == "amemgym_demo" else 0)
    failed = [replace(row, passed=False, reason="not scored") for row in made.rows("score.calibrations")]
    assert failed
    made.dry_run.add("score.calibrations", made.domain.name, failed)
    made.dry_run.run("domain x assistant", made.domain, "recent")
    table = "score.verdicts" if metric else "score.claims"
    rows = made.dry_run.rows(table, made.domain.name, "recent")
    judged = [row for row in rows if not metric or row.metric == metric]
    assert judged and all(row.value is None for row in judged)
    assert any("not scored" in (row.reason or "") for row in judged)


def test_dry_run_counts_requests_to_the_judge() -> None:
    made = generate.__wrapped__("memorybench_demo")
    made.dry_run.run("domain x assistant", made.domain, "full")
    [step] = [step for step in made.dry_run.forecasts if step.step == "verdicts"]
    [count] = step.counts
    replies = made.dry_run.rows("answer.replies", made.domain.name, "full")
    judged = [row for row in replies if row.probe_id.startswith(("sample_checklist", "sample_quality"))]
    assert (count.role, count.calls) == ("judge", len(judged)) and len(judged) == 4


@pytest.mark.parametrize(("limit", "expected"), [(8192, 100), (40, 40)])
def test_dry_run_repeats_a_text_to_the_usual_length_of_a_real_model_within_its_limit(
    limit: int, expected: int
) -> None:
    counting = models()
    given = counting.dry_run.models
    profiles = {name: replace(profile, scripted=False) for name, profile in given.profiles.items()}
    counting.dry_run.models = replace(given, profiles=profiles)
    long = replace(request("word"), usual_tokens=100, sampling=Sampling(max_tokens=limit))
    completion, _ = run_simulated(counting.chat("assistant", "small").complete(long))
    [count] = counting.counts.values()
    assert count.completion_tokens == estimate(completion.text) == expected
    assert count.most_tokens == limit


def test_dry_run_without_a_latency_has_the_recorded_time_of_a_model_or_none() -> None:
    counting = models(concurrency=1)
    dry_run = counting.dry_run
    dry_run.latency, dry_run.recorded = None, RecordedUse(seconds={"small": 3.0})
    assert (dry_run.seconds("small"), dry_run.seconds("large")) == (3.0, None)
    chat = counting.chat("assistant", "small")

    async def work() -> None:
        await asyncio.gather(*(chat.complete(request(f"word{number}")) for number in range(4)))

    assert run_simulated(work())[1] == pytest.approx(12.0)


@pytest.mark.parametrize(
    "can", [None, EVERYTHING, EVERYTHING.model_copy(update={"dates": False, "batch": "message"})]
)
def test_dry_run_of_a_memory_server_starts_no_server(can: Capabilities | None) -> None:
    generated, run = generate("comem_demo"), dry_run()
    hello = None if can is None else Hello(name="mine", version="1", can=can)
    run.own = {"mine": UserMemory(server=ServerConfig(command=("no-such-program",), hello=hello))}
    for table in ("utterance.turns", "question.probes", "feedback.sessions", *STATES):
        run.add(table, "comem_demo", generated.rows(table))
    run.run("domain x assistant", generated.domain, "mine")
    replies = run.rows("answer.replies", "comem_demo", "mine")
    assert {reply.reason for reply in replies} == {None}
    entries = run.rows("memory.indexes", "comem_demo", "mine")
    assert {json.loads(entry.meta)["mode"] for entry in entries if entry.kind == "server"} == {"ask_at_once"}


def test_dry_run_adds_latencies_of_dependent_requests() -> None:
    chat = models(concurrency=64).chat("simulator", "small")

    async def work() -> None:
        for number in range(7):
            await chat.complete(request(f"word{number}"))

    assert run_simulated(work())[1] == pytest.approx(7.0)
