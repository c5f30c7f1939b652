from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.feedback import feedback
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.registry import find_domain
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.records import Record
from memflow.tokens import estimate

OPEN = find_domain("memorybench_open")


def chat(**instead: Handler) -> ScriptedChat:
    named = {f"memorybench/{name}": handler for name, handler in instead.items()}
    return ScriptedChat({**MemoryBench().handlers(), **named})


async def test_failed_user_simulator_gives_feedback_row_with_reason(demo: Any) -> None:
    broken: dict[str, Handler] = {"feedback": lambda _: "half a {", "satisfaction": lambda _: '{"score": 11}'}
    simulator = chat(**{f"{name}{end}": broken[name] for name in broken for end in ("", "_zh")})
    rows = await feedback(demo.domain, demo.turns, demo.probes, chat(), simulator)
    failed = [row for row in rows if row.dataset != "memorybench_sample"]
    assert len(failed) == 12
    for row in failed:
        assert row.reason and "memorybench/feedback" in row.reason and row.case_id in row.reason
        assert (row.satisfaction, row.critique, row.ended, row.liked) == (None, None, False, False)
    dialogues = MemoryBench().episodes(demo.domain, None, demo.turns, rows, simulator)[0]  # type: ignore[arg-type]
    assert len(dialogues.events) == 12


async def test_failed_backbone_reply_ends_feedback_dialogue_with_reason(demo: Any) -> None:
    silent = chat(retry_en=lambda _: "", retry_zh=lambda _: "")
    rows = await feedback(demo.domain, demo.turns, demo.probes, silent, chat())
    lost = [row for row in rows if row.reason]
    assert lost
    assert {row.round for row in lost} == {1}
    (dialogues, *_) = MemoryBench().episodes(demo.domain, None, demo.turns, rows, chat())  # type: ignore[arg-type]
    for event in dialogues.events:
        assert [message.role for message in event.messages] == ["user", "assistant", "user"]


async def test_backbone_requests_of_first_round_contain_no_gold(demo: Any) -> None:
    seen: list[ChatRequest] = []

    handler = MemoryBench().handlers()["memorybench/answer_en"]
    recording = chat(answer_en=lambda request: (seen.append(request), handler(request))[1])
    await feedback(demo.domain, demo.turns, demo.probes, recording, chat())
    assert len(seen) == 6
    golds = [(probe.gold, probe.revealed) for probe in demo.probes if probe.metric == "rouge_l"]
    for request in seen:
        text = "\n".join(message.content for message in request.messages)
        assert not any(gold in text or revealed in text for gold, revealed in golds)


async def test_locomo_feedback_dialogues_and_conversations_become_separate_episodes(
    locomo: list[Record], run_domain: Callable[..., Awaitable[Any]]
) -> None:
    proportional = replace(OPEN, parameters={**OPEN.parameters, "sample_training": "proportional"})
    run = await run_domain(proportional.limited(4), locomo)
    assert {row.episode_id for row in run.feedback} == {DIALOGUES}
    assert len({row.case_id for row in run.feedback}) == 16
    assert all(row.reason is None for row in run.feedback)
    assert any(row.score for row in run.feedback)
    episodes = MemoryBench().episodes(OPEN, None, run.turns, run.feedback, chat())  # type: ignore[arg-type]
    assert [(episode.episode_id, episode.base) for episode in episodes] == [
        (DIALOGUES, None),
        *((f"locomo-{number}", DIALOGUES) for number in range(4)),
    ]
    assert len(episodes[1].events) == 19


async def test_context_tokens_parameter_limits_conversation_in_backbone_prompt(demo: Any) -> None:
    longest = []
    for tokens in (30_000, 400, 0):
        seen: list[int] = []
        answering = chat(
            locomo_short=lambda request, seen=seen: (
                seen.append(estimate(request.fields["notes"])) or "an answer"
            )
        )
        domain = replace(demo.domain, parameters={"context_tokens": tokens})
        await feedback(domain, demo.turns, demo.probes, answering, chat())
        longest.append(max(seen))
    assert longest[0] > 400 >= longest[1] > 0 == longest[2]
