"""The unified data set: conversion of rows, and rejected files. The tests write small files in its format."""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.api import States
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.benchmarks.memorybench.tasks.unified_cases import CASES, CORPORA, parse_literal
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput, MissingData
from memflow.records import Record
from memflow.resources.data.library import Library
from memflow.resources.settings.settings import load

TALK = {
    "speaker_a": "Ann",
    "speaker_b": "Bo",
    "session_1_date_time": "1:00 pm on 2 May, 2024",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I own a kite."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "I own a boat."},
    ],
}
QA = [
    {"question": "What does Ann own?", "answer": "a kite", "evidence": ["D1:1"], "category": 4},
    {"question": "When did they talk?", "answer": 2024, "evidence": ["D1:1"], "category": 2},
    {"question": "What does Bo fly?", "adversarial_answer": "a kite", "evidence": ["D1:2"], "category": 5},
]
CHECKLIST = [{"checklist_id": 0, "checklist_content": "Is it long?"}]
CRITERION = {
    "name": "Depth", "criteria_description": "How deep it goes.",
    "1-2": "a", "3-4": "b", "5-6": "c", "7-8": "d", "9-10": "e",
}  # fmt: skip
TARGET = {"paperId": "p1", "title": "Of wind", "abstract": "Wind lifts."}
NEWS = {"sc-title": "On Kites", "sc-abstract": "Kites rise.", "pr-title": "Up", "pr-summary": "They go up."}
PAPER = {
    "title": "On Kites",
    "abstract": "We fly.",
    "sections": [
        {"section_id": "1", "parent_section_id": "None", "section_name": "Wind", "text": "It blows."}
    ],
}
SCRIPT = "[Date: May 2, 2024, Session #1]\n\nAnn: I own a kite.\nBo: I do not.\n"
STORY = {"prompt": "[ WP ] A kite speaks.", "story": "It said no."}


def lines(*rows: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def parquet(*rows: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), file)
    return file.getvalue()


def arrow(*rows: Mapping[str, Any]) -> bytes:
    file, table = io.BytesIO(), pa.Table.from_pylist(list(rows))
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return file.getvalue()


RAW: dict[str, Mapping[str, bytes]] = {
    "locomo": {
        "locomo/locomo10.json": json.dumps([{"sample_id": "c", "conversation": TALK, "qa": QA}]).encode()
    },
    "dialsim_friends": {
        "dialsim/dialsim_corpus_friends.txt": SCRIPT.encode(),
        "dialsim/friends_questions.json": json.dumps(
            [{"question": "Who owns a kite?", "answer": "Ann", "date": "May 3, 2024"}]
        ).encode(),
    },
    "hellobench_qa": {
        "hellobench/open_ended_qa.jsonl": lines(
            {
                "id": "h-1",
                "category": "art",
                "instruction": "Explain kites.",
                "formatted_checklists": json.dumps(CHECKLIST),
            }
        )
    },
    "writingbench_law": {
        "writingbench/benchmark_all.jsonl": lines(
            {
                "index": 7, "domain1": "Politics & Law", "domain2": "Contract", "lang": "zh",
                "query": "写一份合同。", "checklist": [CRITERION],
            }
        )
    },
    "writingprompts": {"writingprompts/test.parquet": parquet(STORY)},
    "nfcats": {"nfcats/test.csv": b"annotated_by,category,question\nx,REASON,Why do kites fly?\n"},
    "lexeval_judge": {"lexeval/5_2.json": lines({"instruction": "请分析。\n", "input": "甲。", "answer": "乙。"})},
    "judge": {"judge/train.json": lines({"text_id": "j", "text": " 甲盗窃。 ", "la": [264], "fd": "判决如下"})},
    "ideabench": {
        "ideabench/target_papers.csv": b"paperId,title,abstract\np1,Of wind,Wind lifts.\n",
        "ideabench/filtered_references.csv": b"targetPaperId,abstract\np1,One.\n",
    },
    "scitechnews": {"scitechnews/test.json": lines(NEWS)},
    "limitgen": {
        "limitgen_syn/annotated/metric/2403.1v1.json": json.dumps(PAPER).encode(),
        "limitgen_syn/sections/metric.json": json.dumps({"2403.1v1": {"ground_truth": "Too few."}}).encode(),
    },
}  # fmt: skip
"""A small file of each format that tasks are published in."""


def row(number: int, name: str, prompt: str | list[dict[str, str]], info: Any, **more: Any) -> dict[str, Any]:
    """A published row: nested fields are texts, in Python's way of writing."""
    said = {"input_prompt": prompt} if isinstance(prompt, str) else {"input_chat_messages": repr(prompt)}
    given = {"test_idx": number, "dataset_name": name, "lang": "en", "info": repr(info), "dialog": "[]"}
    return {**given, **said, **more}


def chat(system: str, user: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def locomo(number: int, gold: Any) -> dict[str, Any]:
    asked = QA[number]
    said = [turn for turn in TALK["session_1"] if turn["dia_id"] in asked["evidence"]]  # type: ignore[index]
    return row(
        number, "Locomo-0", f"Above. Question: {asked['question']} Short answer:\n",
        {"golden_answer": gold, "category": asked["category"], "evidence": said},
        origin_question=asked["question"],
    )  # fmt: skip


OPTIONS = {"a": "Not mentioned in the conversation", "b": "a kite"}
ROWS: dict[str, list[dict[str, Any]]] = {
    "locomo": [locomo(0, "a kite"), locomo(1, 2024), locomo(2, OPTIONS)],
    "dialsim_friends": [
        row(
            0, "DialSim-friends",
            "You play. It is asked in the context of May 3, 2024.\n\n[Question] Who owns a kite?\n\n[Answer]\n",
            {"golden_answer": "Ann"},
        )
    ],
    "hellobench_qa": [
        row(
            0, "HelloBench-Academic&Knowledge-QA", "Explain kites.", {"checklist": CHECKLIST}, id="h-1",
            category="art", domain="open_ended_qa",
        )
    ],
    "writingbench_law": [
        row(
            0, "WritingBench-Politics&Law", "写一份合同。", {"criteria": [CRITERION]}, id=7, lang="zh",
            domain="Politics & Law",
        )
    ],
    "writingprompts": [
        row(0, "WritingPrompts", "A kite speaks. Write a story on it.", {"golden_answer": "It said no."})
    ],
    "nfcats": [row(0, "NFCats", "Be brief.\n\nQuestion: Why do kites fly?", {})],
    "lexeval_judge": [row(0, "LexEval-Judge", "请分析。\n甲。", {"golden_answer": "乙。"}, lang="zh")],
    "judge": [
        row(
            0, "JuDGE", chat("助理", "\n案件事实： 甲盗窃。 \n请根据上面提供的事实描述，写判决书。\n"),
            {"golden_answer": "判决如下"}, lang="zh",
        )
    ],
    "ideabench": [
        row(0, "IdeaBench", "Here are the abstracts:\n\nAbstract 1: One.\n\nUsing these abstracts, think.", TARGET)
    ],
    "scitechnews": [
        row(
            0, "JRE-L", "Write.\n\n### Meta Info\nTitle: On Kites\n### Content\nKites rise.",
            {**{key: NEWS[key] for key in ("sc-title", "sc-abstract", "pr-title")}, "pr-abstract": "They go up."},
        )
    ],
    "limitgen": [
        row(
            0, "LimitGen-Syn",
            chat("Find.", "Paper to review: \nTitle: On Kites\nAbstract: We fly.\n1 Wind:\nIt blows.\n\n"),
            {"ground_truth": "Too few.", "category": "metric"}, id="2403.1v1",
        )
    ],
}  # fmt: skip
"""The same cases as MemoryBench publishes them."""
TEXTS = {
    "Locomo-0": json.dumps({"sample_id": "c", "conversation": TALK, "qa": QA}),
    "DialSim-friends": SCRIPT,
}
UNPUBLISHED = {"nfcats": "REASON", "writingbench_law": "Contract"}
"""Categories that the unified set leaves out."""


def write_files(folder: Path, files: Mapping[str, bytes]) -> Library:
    for source, content in files.items():
        path = folder / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Library(folder)


def unified(task: str, part: str = "train", rows: list[dict[str, Any]] | None = None) -> dict[str, bytes]:
    """The files of a data set as the published folder has them; what is not `part` is one row of test or training."""
    given = ROWS[task] if rows is None else rows
    name = given[0]["dataset_name"]
    other = {**given[0], "test_idx": 9000, "id": "9000"}
    files = {
        f"memorybench/dataset/{name}/{part}/data-00000-of-00001.arrow": arrow(*given),
        f"memorybench/dataset/{name}/{'test' if part == 'train' else 'train'}/data-00000-of-00001.arrow": arrow(
            other
        ),
        f"memorybench/dataset/{name}/{part}/state.json": b"{}",
    }
    if name in TEXTS:
        files[f"memorybench/corpus/{name}.jsonl"] = lines({"text": TEXTS[name]})
    return files


def records(library: Library, name: str) -> list[Record]:
    return MemoryBench().records(library.dataset(name), library.paths(name))


def pool(library: Library, name: str) -> Pool:
    (found,) = build_pools(records(library, name))
    return found


def case_of(pool: Pool, probe_id: str) -> Case:
    return next(case for case in pool.cases if pool.probe_id(case) == probe_id)


@pytest.mark.parametrize("task", RAW)
def test_row_of_unified_data_set_gives_same_case_as_original_file(tmp_path: Path, task: str) -> None:
    write_files(tmp_path, RAW[task])
    (raw,) = build_pools(
        MemoryBench().records(find_dataset(task), {name: tmp_path / name for name in RAW[task]})
    )
    given = pool(write_files(tmp_path, unified(task)), f"unified_{task}")
    assert (given.name, given.task, given.corpus) == (raw.name, raw.task, raw.corpus)
    for case in raw.cases:
        same = case_of(given, raw.probe_id(case))
        # The split is given, so that nothing is stratified.
        assert replace(same, part=None, stratum=None) == replace(
            case, category=None if task in UNPUBLISHED else case.category, stratum=None
        )
        assert same.part == "train"


async def test_domain_in_memflow_toml_reads_unified_data_sets(tmp_path: Path) -> None:
    """Build probes from memflow.toml for one data set with a corpus and one without."""
    toml = tmp_path / "memflow.toml"
    toml.write_text(
        '[own_domains.mine]\nbenchmark = "memorybench"\ndatasets = ["unified_locomo", "unified_nfcats"]\n'
    )
    domain = load(toml).domain("mine")
    library = write_files(tmp_path / "data", {**unified("locomo", "test"), **unified("nfcats")})
    found, lacking = library.datasets_of(domain)
    assert [each.name for each in found] == ["unified_locomo", "unified_nfcats"] and not lacking
    all_records = [record for each in found for record in records(library, each.name)]
    bench, chat = MemoryBench(), ScriptedChat(MemoryBench().handlers())
    turns = await bench.turns(domain, all_records, States([], [], []), chat)
    probes = await bench.probes(domain, all_records, States([], [], []), turns, chat)
    assert [turn.message_id for turn in turns] == ["locomo-0/D1:1", "locomo-0/D1:2"]
    assert [(probe.probe_id, probe.split, probe.dataset) for probe in probes] == [
        ("locomo-0/0", "test", "locomo"),
        ("locomo-0/1", "test", "locomo"),
        ("locomo-0/2", "test", "locomo"),
        ("locomo-0/9000", "train", "locomo"),
        ("nfcats/9000", "test", "nfcats"),
        ("nfcats/0", "train", "nfcats"),
    ]
    assert {message for probe in probes for message in probe.evidence} <= {turn.message_id for turn in turns}


@pytest.mark.parametrize("write", [arrow, parquet, lines])
def test_unified_rows_are_read_from_arrow_parquet_and_jsonl_files(tmp_path: Path, write: Any) -> None:
    suffix = {"arrow": "arrow", "parquet": "parquet", "lines": "jsonl"}[write.__name__]
    files = {f"memorybench/JuDGE/{part}.{suffix}": write(*ROWS["judge"]) for part in ("train", "test")}
    files[f"memorybench/JuDGE/test.{suffix}"] = write({**ROWS["judge"][0], "test_idx": 1})
    found = pool(write_files(tmp_path, files), "unified_judge")
    assert {case.case_id: case.part for case in found.cases} == {"0": "train", "1": "test"}


def test_original_and_unified_data_set_of_same_task_are_rejected_together(tmp_path: Path) -> None:
    library = write_files(tmp_path, {**unified("judge"), "judge/test.json": RAW["judge"]["judge/train.json"]})
    all_records = [*records(library, "judge"), *records(library, "unified_judge")]
    with pytest.raises(BadInput, match="unified_judge has the pool judge, which another data set"):
        build_pools(all_records)


def test_every_task_has_an_original_and_a_unified_data_set() -> None:
    for task in (TASKS[name] for name in CASES):
        files = registry.datasets()[f"unified_{task.name}"].files
        stars = task.published + ("-*" if task.name == "locomo" else "")
        assert f"memorybench/dataset/{stars}/test/data*" in files
        assert (f"memorybench/corpus/{stars}.jsonl" in files) == (task.name in CORPORA)
    assert len([name for name in registry.datasets() if name.startswith("unified_")]) == 19


ROW = ROWS["judge"][0]
PLACE = "memorybench/dataset/JuDGE/train/data-00000-of-00001.arrow"
CORPUS = "memorybench/corpus/Locomo-0.jsonl"


def one(**changed: Any) -> dict[str, bytes]:
    """One row with something else in it; a field that is None is not there."""
    given = {name: value for name, value in {**ROW, **changed}.items() if value is not None}
    return {PLACE: arrow(given)}


def test_unified_reader_rejects_missing_corpus_file(tmp_path: Path) -> None:
    files = unified("locomo")
    moved = [{**row, "dataset_name": "Locomo-1"} for row in ROWS["locomo"]]
    other = {"memorybench/dataset/Locomo-1/train/data-00000-of-00001.arrow": arrow(*moved)}
    with pytest.raises(BadInput, match=r"corpus/Locomo-1\.jsonl is missing"):
        build_pools(records(write_files(tmp_path, {**files, **other}), "unified_locomo"))
    del files[CORPUS]
    with pytest.raises(MissingData, match="corpus"):
        records(write_files(tmp_path / "none", files), "unified_locomo")


@pytest.mark.parametrize("text", ["[" * 5000, "(" * 300, "-" * 200_000 + "1", "{" * 100_000, "1" * 10_000])
def test_parse_literal_rejects_deeply_nested_or_very_long_text(text: str) -> None:
    with pytest.raises(ValueError):
        parse_literal(text)
