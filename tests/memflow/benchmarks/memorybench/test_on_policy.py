"""On-policy protocol: the measured assistant answers, users react, and the memory stores the dialogues."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.registry import find_domain
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.errors import RecallFailed
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Recall, Tools
from memflow.memories.registry import memory_factory
from memflow.memories.retrieval import Lexical
from memflow.records import Record
from memflow.run.play import PlayedEpisode, play_all

ONPOLICY = find_domain("memorybench_demo_onpolicy")
BENCH = MemoryBench()


def chat(**instead: Handler) -> ScriptedChat:
    named = {f"memorybench/{name}": handler for name, handler in instead.items()}
    return ScriptedChat({**BENCH.handlers(), **named})


def recording(seen: list[ChatRequest], *names: str) -> dict[str, Handler]:
    """Return handlers that append their requests to `seen`."""

    def handler(name: str) -> Handler:
        inner = BENCH.handlers()[f"memorybench/{name}"]
        return lambda request: (seen.append(request), inner(request))[1]

    return {name: handler(name) for name in names}


async def play(
    run: Any, memory: Any = "bm25_session", answering: Any = None, simulator: Any = None
) -> PlayedEpisode:
    make = memory_factory(memory, Tools(embedder=HashingEmbedder())) if isinstance(memory, str) else memory
    episodes = BENCH.episodes(run.domain, None, run.turns, [], simulator or chat(), run.probes)  # type: ignore[arg-type]
    (played,) = await play_all(episodes, make, BENCH.replier(run.domain, answering or chat()))
    return played


@pytest.fixture
async def on_policy(
    run_domain: Callable[[Domain, list[Record]], Awaitable[Any]], sample: list[Record]
) -> Any:
    return await run_domain(ONPOLICY, sample)


async def test_second_answer_of_on_policy_dialogue_is_written_to_memory(on_policy: Any) -> None:
    played = await play(on_policy)
    rounds = BENCH.rounds(ONPOLICY, "bm25_session", [played])
    assert on_policy.feedback == []
    second = [row for row in rounds if row.round == 1]
    assert second
    entries = [entry.text for entry in played.store if any("feedback/" in each for each in entry.sources)]
    said = {(line.event.checkpoint, line.message.text) for line in played.lines if line.origin == "assistant"}
    for row in second:
        assert any(row.answer in text and row.user_text in text for text in entries)
        assert (row.checkpoint, row.answer) in said


async def test_on_policy_step_answers_from_memory_of_previous_steps(on_policy: Any) -> None:
    seen: list[ChatRequest] = []

    played = await play(on_policy, answering=chat(**recording(seen, "answer_en", "answer_zh")))
    steps: dict[str, set[int]] = {}
    for line in played.lines:
        if line.origin == "given" and line.event.checkpoint:
            steps.setdefault(line.message.text, set()).add(line.event.checkpoint)
    notes_by_steps = [(request.fields["notes"], steps[request.fields["question"]]) for request in seen]
    early = [notes for notes, at in notes_by_steps if at == {1}]
    assert early and not any("feedback" in notes or "user:" in notes for notes in early)
    late = [notes for notes, at in notes_by_steps if at == {3}]
    assert any("user:" in notes for notes in late)


async def test_published_code_variant_gives_one_answer_per_on_policy_dialogue(on_policy: Any) -> None:
    domain = replace(ONPOLICY, parameters={**ONPOLICY.parameters, "follow_ups": "published_code"})
    rounds = BENCH.rounds(domain, "a", [await play(replace(on_policy, domain=domain))])
    assert {row.round for row in rounds} == {0}
    assert any(row.critique and not row.ended for row in rounds)


async def test_failed_on_policy_rounds_have_reasons_and_add_no_memory_entries(on_policy: Any) -> None:
    class Broken(Lexical):
        async def read(self, query: str, frozen: bool = True) -> Recall:
            raise RecallFailed("the memory is out")

    played = await play(on_policy, lambda store: Broken(store, Tools(), k=5, grain="session"))
    rounds = BENCH.rounds(ONPOLICY, "a", [played])
    assert len(rounds) == 24 and all("the memory is out" in (row.reason or "") for row in rounds)
    lost = [line for line in played.lines if line.reason is not None]
    assert len(lost) == 24
    assert not any("feedback/" in source for entry in played.store for source in entry.sources)

    simulator = chat(feedback=lambda _: "half a {", feedback_zh=lambda _: "half a {")
    rounds = BENCH.rounds(ONPOLICY, "a", [await play(on_policy, simulator=simulator)])
    assert {bool(row.reason) for row in rounds} == {True, False}
    assert not any(row.satisfaction or row.liked for row in rounds if row.reason)
