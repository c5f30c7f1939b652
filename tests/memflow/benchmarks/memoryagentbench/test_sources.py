"""Recommendations, summaries, questions of LongMemEval: several texts of a source, titles, and the contracts."""

import json
from pathlib import Path
from typing import Any

import factories
import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memoryagentbench.answers import Fluency, KeyPoints, Sentences
from memflow.benchmarks.memoryagentbench.benchmark import MemoryAgentBench
from memflow.benchmarks.memoryagentbench.load import TITLES, count_contents, read_records
from memflow.benchmarks.memoryagentbench.sources import PUBLISHED
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Record, Verdict

LEARNING = find_dataset("mab_test_time_learning")
DOMAIN = Domain("d", "memoryagentbench", (LEARNING.name,), "Test")
ENTITIES = {
    "<http://dbpedia.org/resource/Alien_(film)>": 7,
    "<http://dbpedia.org/resource/Heat>": 9,
    "Up": 11,
}


def row(source: str, context: str, answers: list[Any], **metadata: Any) -> dict[str, Any]:
    questions = [f"Question {number}?" for number in range(len(answers))]
    return {
        "context": context,
        "questions": questions,
        "answers": answers,
        "metadata": {"source": source, **metadata},
    }


def read(tmp_path: Path, *rows: dict[str, Any], titles: bool = True) -> list[Record]:
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    files = {"memoryagentbench/rows.json": tmp_path / "rows.json"}
    if titles:
        (tmp_path / TITLES).write_text(json.dumps(ENTITIES), encoding="utf-8")
        files[f"memoryagentbench/{TITLES}"] = tmp_path / TITLES
    return read_records(LEARNING, files)


async def probes_of(records: list[Record]) -> list[Probe]:
    return await MemoryAgentBench().probes(DOMAIN, records, [], [], None)  # type: ignore[arg-type]


async def verdicts_of(probe: Probe, text: str, **handlers: Any) -> dict[tuple[str, str], Verdict]:
    benchmark = MemoryAgentBench()
    parsed = benchmark.parse(probe, text)
    reply = factories.reply(assistant="full", probe_id=probe.probe_id, text=text, parsed=parsed)
    judge = ScriptedChat({**benchmark.handlers(), **handlers})
    rows = await benchmark.verdicts(DOMAIN, [probe], [reply], MetricBackends(judge=judge))
    return {(verdict.metric, verdict.variant): verdict for verdict in rows}


async def test_each_text_of_a_source_is_an_episode_with_own_probe_ids(tmp_path: Path) -> None:
    texts = [row("detective_qa", f"Novel {number}.", [["A. Yes"], ["B. No"]]) for number in (1, 2)]
    records = read(tmp_path, *texts, titles=False)
    assert [record.reason for record in records] == [None, None]
    probes = await probes_of(records)
    assert [probe.episode_id for probe in probes] == ["detective_qa"] * 2 + ["detective_qa#2"] * 2
    assert len({probe.probe_id for probe in probes}) == 4


async def test_text_that_occurs_twice_is_quarantined(tmp_path: Path) -> None:
    text = row("detective_qa", "Novel.", [["A. Yes"]])
    assert [record.reason is None for record in read(tmp_path, text, text, titles=False)] == [True, False]


async def test_recommendation_is_compared_with_the_titles_of_its_ids(tmp_path: Path) -> None:
    records = read(tmp_path, row("recsys_redial_full", "Dialogues.", [["7", "11"], ["8"]]))
    assert count_contents(records).counts == {"texts": 1, "questions": 2}
    probe, unknown = await probes_of(records)
    assert json.loads(probe.gold) == ["Alien", "Up"]
    assert "entity2id.json has no title of 8" in str(unknown.reason)
    verdicts = await verdicts_of(probe, "1. Alein (1979)\n2. Heat")
    assert {
        metric: verdict.value for (metric, variant), verdict in verdicts.items() if variant == "standard"
    } == {
        "title_recall_at_5": 0.5,
        "title_recall_at_1": 0.5,
        "title_recall_at_10": 0.5,
    }


async def test_recommendation_without_the_file_of_titles_names_it(tmp_path: Path) -> None:
    [probe] = await probes_of(read(tmp_path, row("recsys_redial_full", "Dialogues.", [["7"]]), titles=False))
    assert "entity2id.json has no title of 7" in str(probe.reason)


async def summary_probe(tmp_path: Path) -> Probe:
    points = ["Mara sells the mill.", "She moves.", "She opens a school."]
    text = row(
        "infbench_sum_eng_shots2", "Novel.", [["Mara sells the mill and opens a school."]], keypoints=points
    )
    [probe] = await probes_of(read(tmp_path, text, titles=False))
    return probe


@pytest.mark.parametrize(("fluency", "f1"), [(1, 0.4), (0, 0.0)])
async def test_value_of_a_summary_is_f1_times_fluency(tmp_path: Path, fluency: int, f1: float) -> None:
    verdicts = await verdicts_of(
        await summary_probe(tmp_path),
        "Mara sells the mill.",
        **{
            "memoryagentbench/judge_fluency": lambda request: Fluency(fluency=fluency),
            "memoryagentbench/judge_key_points": lambda request: KeyPoints(supported=[1, 1]),
            "memoryagentbench/judge_sentences": lambda request: Sentences(sentences=2, supported=1),
        },
    )
    assert verdicts["summary_f1", "standard"].value == pytest.approx(f1)
    assert verdicts["summary_f1", PUBLISHED].value == pytest.approx(f1)
    assert verdicts["summary_recall", "standard"].value == pytest.approx(1 / 3)
    assert verdicts["rouge_l_recall", "standard"].value == pytest.approx(4 / 8)


async def test_key_point_that_does_not_exist_leaves_the_summary_without_a_value(tmp_path: Path) -> None:
    verdicts = await verdicts_of(
        await summary_probe(tmp_path),
        "Mara sells the mill.",
        **{"memoryagentbench/judge_key_points": lambda request: KeyPoints(supported=[4])},
    )
    assert verdicts["summary_f1", "standard"].value is None
    assert "there is no key point 4" in str(verdicts["summary_f1", PUBLISHED].reason)


async def test_questions_of_longmemeval_are_judged_by_the_contract_of_their_type(tmp_path: Path) -> None:
    text = row(
        "longmemeval_s*",
        "Chats.",
        [["Graz"], ["It was not mentioned."]],
        question_ids=["a1", "b2_abs"],
        question_types=["knowledge-update", "multi-session"],
    )
    probes = await probes_of(read(tmp_path, text, titles=False))
    assert [probe.probe_id for probe in probes] == ["a1", "b2_abs"]
    prompts: list[str] = []

    def judge(request: Any) -> str:
        prompts.append(request.prompt)
        return "yes"

    names = ("longmemeval/judge_update", "longmemeval/judge_abstention")
    for probe in probes:
        verdicts = await verdicts_of(probe, "Graz\nI think.", **dict.fromkeys(names, judge))
        assert verdicts["accuracy", "standard"].value == 1
        assert verdicts["accuracy", "standard"].category == "longmemeval_s*"
    assert prompts == list(names)


async def test_damaged_titles_are_named(tmp_path: Path) -> None:
    (tmp_path / TITLES).write_text('{"Up": "x"}', encoding="utf-8")
    with pytest.raises(BadInput, match="not a JSON object of numbers by title"):
        read_records(LEARNING, {f"memoryagentbench/{TITLES}": tmp_path / TITLES})


async def test_summary_without_key_points_is_quarantined(tmp_path: Path) -> None:
    text = row("infbench_sum_eng_shots2", "Novel.", [["Mara sells the mill."]])
    [probe] = await probes_of(read(tmp_path, text, titles=False))
    assert "the row has no key points" in str(probe.reason)
