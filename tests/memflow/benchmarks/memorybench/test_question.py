"""Prompts of the legal and academic tasks, and the format of their answers."""

import json
from typing import Any

import pytest
from bounded_types import assert_bounded

from memflow.benchmarks.memorybench.answers import Ideas, Limitations
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.probes import probes
from memflow.benchmarks.memorybench.question import answer_text
from memflow.benchmarks.memorybench.selection import SelectedPool
from memflow.benchmarks.memorybench.split import Split
from memflow.benchmarks.memorybench.tasks import ideabench, limitgen, rows
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.memorybench.tasks.task import Case, Pool, answered_case
from memflow.benchmarks.registry import find_domain
from memflow.chat.asking import first_request
from memflow.chat.scripted import ScriptedChat
from memflow.memories.memory import Recall
from memflow.records import Probe

DOMAIN = find_domain("memorybench_demo")
NEWS = rows.SciTechNewsRow(title="Kites", abstract="Kites rise.", pr_title="Up", pr_summary="They go up.")
IDEA = ideabench.Target(paperId="p", title="Rope", abstract="A rope holds.")
CASES: dict[str, Case] = {
    "lexeval_qa": answered_case("0", "什么是要约？", "要约是意思表示。", language="zh"),
    "judge": answered_case(
        "0", "被告人甲盗窃自行车一辆。经查属实。", "法院判处甲拘役三个月。", language="zh"
    ),
    "scitechnews": rows.scitechnews_case("0", NEWS),
    "ideabench": ideabench.case("0", IDEA, "Abstract 1: Wind lifts. Wind turns. It ends."),
    "limitgen": limitgen.case("a", "metric", "Title: Kites\nAbstract: We fly. We look. We land.", "Too few."),
}


def probe(name: str) -> Probe:
    pool = Pool(name, task(name), [CASES[name]])
    (found,) = probes(DOMAIN.name, [SelectedPool(pool, Split([0], []))])
    return found


def chat() -> ScriptedChat:
    return ScriptedChat(MemoryBench().handlers())


@pytest.mark.parametrize(
    ("name", "stem", "tokens"),
    [
        ("lexeval_qa", "answer_zh", None),
        ("judge", "judge", 2048),
        ("scitechnews", "scitechnews", 4096),
        ("ideabench", "ideabench", 2048),
        ("limitgen", "limitgen", 500),
    ],
)
def test_answer_prompt_contains_recalled_notes_and_no_gold(name: str, stem: str, tokens: int | None) -> None:
    case_probe = probe(name)
    question = MemoryBench().question(DOMAIN, case_probe, Recall(notes="what is known"), None)
    assert question.prompt.name == f"memorybench/{stem}"
    text = "\n".join(said.content for said in question.prompt.render(question.fields))
    assert "what is known" in text and case_probe.question in text
    hidden = json.loads(case_probe.gold).values() if case_probe.gold.startswith("{") else [case_probe.gold]
    shown_too = {NEWS.title, NEWS.abstract, "metric"}
    assert not any(part in text for part in hidden if part not in shown_too)
    if tokens is not None:
        assert first_request(chat(), question.prompt, question.fields).sampling.max_tokens == tokens


@pytest.mark.parametrize("output", [Limitations, Ideas])
def test_list_output_types_require_three_bounded_items(output: Any) -> None:
    assert_bounded(output)
    (name,) = output.model_fields
    for number in (0, 2, 4):
        with pytest.raises(ValueError):
            output.model_validate({name: ["a"] * number})
    assert answer_text(output.model_validate({name: ["a", "b", "ü"]})) == f'{{"{name}": ["a", "b", "ü"]}}'
