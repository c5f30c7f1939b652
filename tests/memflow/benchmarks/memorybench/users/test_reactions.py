import json
from dataclasses import replace
from typing import Any

import factories
import pytest

from memflow.benchmarks.memorybench.tasks.catalog import LOCOMO_F1, TASKS
from memflow.benchmarks.memorybench.users.known_gold import scoring_standards, user_knowledge
from memflow.benchmarks.memorybench.users.personas import persona
from memflow.benchmarks.memorybench.users.reactions import Reaction, react, satisfaction
from memflow.benchmarks.registry import find_domain
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.records import Probe

DEMO = find_domain("memorybench_demo")
GOLDS: dict[str, Any] = {
    "hellobench_qa": {"checklist": ["names the cause", "gives an example"]},
    "writingbench_law": {"criteria": [{"name": "Form", "description": "It has a date.", "levels": {"1-2": "none"}}]},
    "ideabench": {"title": "On moss", "abstract": "Moss holds water."},
    "scitechnews": {
        "title": "Hydraulics", "abstract": "We measured.", "pr_title": "Moss drinks", "pr_summary": "It drinks fog.",
    },
    "limitgen": {"ground_truth": "Only one site was studied.", "category": "data"},
    "nfcats": {},
}  # fmt: skip


def probe_of(dataset: str, gold: str | None = None, language: str = "en", **more: Any) -> Probe:
    known = GOLDS.get(dataset)
    return factories.probe(
        domain=DEMO.name, probe_id=f"{dataset}/1", kind="open", split="train", dataset=dataset, language=language,
        metric=TASKS[dataset].metric, question="What does moss do?",
        gold=gold or (json.dumps(known) if known is not None else "Moss holds water."), **more,
    )  # fmt: skip


def history(*answers: str) -> list[ChatMessage]:
    said = [ChatMessage("user", "What does moss do?")]
    for number, answer in enumerate(answers):
        said += [ChatMessage("user", "That is wrong.")] if number else []
        said.append(ChatMessage("assistant", answer))
    return said


class RecordingChat(ScriptedChat):
    """A scripted chat that records its requests; keyword arguments replace handlers."""

    def __init__(self, **instead: Handler) -> None:
        self.requests: list[ChatRequest] = []
        answers: dict[str, Handler] = {
            "feedback": lambda _: '{"reasoning": "r", "behaviour": "continue", "response": "More."}',
            "satisfaction": lambda _: '{"score": 4}',
            "dialsim_judge": lambda _: '{"correct": true}',
            **instead,
        }
        super().__init__(
            {f"memorybench/{name}{end}": handler for name, handler in answers.items() for end in ("", "_zh")}
        )

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        return await super().complete(request)

    def text(self, prompt: str) -> str:
        (request,) = [each for each in self.requests if each.prompt == f"memorybench/{prompt}"]
        return "\n".join(message.content for message in request.messages)


@pytest.mark.parametrize(
    ("f1", "points"), [(1.0, 10), (0.9, 10), (0.8, 9), (0.7, 8), (0.5, 6), (0.49, 5), (0.3, 4), (0.0, 1)]
)
def test_satisfaction_of_f1_score_matches_paper(f1: float, points: int) -> None:
    assert satisfaction(f1) == points
    assert satisfaction(f1 - 1e-16) == points


@pytest.mark.parametrize(("right", "ended"), [("standard", True), ("published_code", False)])
async def test_answer_with_f1_of_0_5_ends_dialogue_except_in_published_code(right: str, ended: bool) -> None:
    domain = replace(DEMO, parameters={"right": right})
    probe = probe_of("locomo", "red moss", category="4")
    assert probe.metric == LOCOMO_F1
    found = await react(domain, probe, history("green moss"), RecordingChat())
    assert (found.score, found.satisfaction, found.ended) == (0.5, 6, ended)


@pytest.mark.parametrize("answer", ["Monica", " monica.", "MONICA"])
async def test_dialsim_answer_equal_to_gold_ends_dialogue_without_judge_request(answer: str) -> None:
    chat = RecordingChat()
    found = await react(DEMO, probe_of("dialsim_friends", "Monica"), history(answer), chat)
    assert (found.score, found.satisfaction, found.ended) == (1.0, 9, True)
    assert found.critique
    assert not chat.requests


async def test_simulated_user_prompt_contains_persona_gold_and_conversation() -> None:
    chat = RecordingChat()
    found = await react(DEMO, probe_of("lexeval_qa"), history("It eats.", "It sings."), chat)
    assert found == Reaction(satisfaction=4, critique="More.")
    who = persona("lexeval_qa", "en")
    text = chat.text("feedback")
    for part in (
        who.persona,
        who.expertise,
        who.task,
        *who.criteria,
        "User: That is wrong.",
        "Moss holds water.",
    ):
        assert part in text
    scored = chat.text("satisfaction")
    assert who.persona not in scored
    for part in ("Assistant: It eats.", "Assistant: It sings.", "Moss holds water."):
        assert part in scored


async def test_chinese_case_uses_chinese_user_prompts_and_persona() -> None:
    chat = RecordingChat()
    probe = probe_of("lexeval_qa", "管辖权错误", language="zh")
    assert (await react(DEMO, probe, history("管辖错误"), chat)).satisfaction == 4
    assert {one.prompt for one in chat.requests} == {
        "memorybench/feedback_zh",
        "memorybench/satisfaction_zh",
    }
    for stem in ("feedback_zh", "satisfaction_zh"):
        assert "助手：管辖错误" in chat.text(stem)
        assert "管辖权错误" in chat.text(stem)
    assert persona("lexeval_qa", "zh").persona in chat.text("feedback_zh")


@pytest.mark.parametrize(
    ("dataset", "context"),
    [
        ("judge", ["Moss holds water."]),
        ("writingprompts", ["Moss holds water."]),
        ("hellobench_qa", ["- names the cause\n- gives an example"]),
        ("writingbench_law", ["- Form: It has a date."]),
        ("ideabench", ["On moss", "Moss holds water."]),
        ("scitechnews", ["Moss drinks", "It drinks fog."]),
        ("limitgen", ["Only one site was studied.", "data"]),
        ("nfcats", []),
    ],
)
def test_gold_context_of_simulated_user_depends_on_data_set(dataset: str, context: list[str]) -> None:
    for language in ("en", "zh"):
        known = user_knowledge(probe_of(dataset, language=language))
        assert all(part in known for part in context)
        assert known.isascii() == (language == "en")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_satisfaction_prompt_adds_scoring_standards_only_for_scitechnews(language: str) -> None:
    report = probe_of("scitechnews", language=language)
    assert scoring_standards(report) != user_knowledge(report)
    assert scoring_standards(report).count("\n- ") == 4
    for dataset in (*GOLDS.keys() - {"scitechnews"}, "judge"):
        probe = probe_of(dataset, language=language)
        assert scoring_standards(probe) == user_knowledge(probe)


@pytest.mark.parametrize(
    ("stem", "answer"),
    [
        ("feedback", '{"reasoning": "r", "behaviour": "continue", "response": null}'),
        ("feedback", '{"behaviour": "end"}'),
        ("feedback", "fine"),
        ("satisfaction", '{"score": 11}'),
    ],
)
async def test_invalid_user_simulator_reply_gives_reaction_with_reason(stem: str, answer: str) -> None:
    broken = RecordingChat(**{stem: lambda _: answer})
    found = await react(DEMO, probe_of("nfcats"), history("It eats."), broken)
    assert found == Reaction(reason=found.reason)
    assert found.reason and "nfcats/1" in found.reason and f"memorybench/{stem}" in found.reason


@pytest.mark.parametrize("response", ["null", '"Thank you."'])
async def test_simulated_user_may_end_dialogue_with_or_without_critique(response: str) -> None:
    said = f'{{"reasoning": "r", "behaviour": "end", "response": {response}}}'
    chat = RecordingChat(feedback=lambda _: said)
    found = await react(DEMO, probe_of("nfcats"), history("It eats."), chat)
    assert found == Reaction(satisfaction=4, critique=json.loads(response), ended=True)
