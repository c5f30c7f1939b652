"""The complete published files, where MEMFLOW_DATA has them: counts by plain JSON, CSV and regular expressions.

Nothing here uses memflow's readers to count. A known defect costs its record alone.
"""

import ast
import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from data_check import DataCheck, check_dataset

from memflow.resources.data.library import Library

Counts = Mapping[str, int]
MARK = re.compile(r"\[ERROR[QAC]\]")


@pytest.fixture(scope="module")
def folder() -> Path:
    if not os.environ.get("MEMFLOW_DATA"):
        pytest.skip("MEMFLOW_DATA is not set")
    return Path(os.environ["MEMFLOW_DATA"])


def files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        pytest.skip(f"MEMFLOW_DATA has no {pattern}")
    return found


def objects(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def amemgym(folder: Path) -> Counts:
    [path] = files(folder, "amemgym/v1.base/data.json")
    users = json.loads(path.read_text(encoding="utf-8"))
    sessions = sum(len(period["sessions"]) for user in users for period in user["periods"])
    return {"users": len(users), "sessions": sessions, "questions": sum(len(user["qas"]) for user in users)}


def locomo(folder: Path) -> Counts:
    [path] = files(folder, "locomo/locomo10.json")
    talks = json.loads(path.read_text(encoding="utf-8"))
    found = [
        messages
        for talk in talks
        for name, messages in talk["conversation"].items()
        if re.fullmatch(r"session_\d+", name)
    ]
    return {
        "conversations": len(talks),
        "questions": sum(len(talk["qa"]) for talk in talks),
        "sessions": len(found),
        "messages": sum(map(len, found)),
    }


def script(show: str) -> Callable[[Path], Counts]:
    def count(folder: Path) -> Counts:
        [path] = files(folder, f"dialsim/dialsim_corpus_{show}.txt")
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        found = re.split(r"^\[Date: [^\]]+, Session #\d+\][ \t]*$", text, flags=re.MULTILINE)[1:]
        silent = sum(not re.search(r"^[^:\n]+:[ \t]*\S", each, flags=re.MULTILINE) for each in found)
        return {"records": len(found), "quarantined": silent}

    return count


def number_of_lines(pattern: str) -> Callable[[Path], Counts]:
    return lambda folder: {"questions": sum(len(objects(path)) for path in files(folder, pattern))}


def nfcats(folder: Path) -> Counts:
    return {"questions": sum(1 for path in files(folder, "nfcats/test.csv") for _ in rows(path))}


def hellobench(folder: Path) -> Counts:
    chat, qa = files(folder, "hellobench/chat.jsonl"), files(folder, "hellobench/open_ended_qa.jsonl")
    science = sum(each["category"] == "science_problem_solve" for each in objects(chat[0]))
    return {"questions": len(objects(qa[0])) + science}


def writingbench(folder: Path) -> Counts:
    if list(folder.glob("writingbench/benchmark_all.jsonl")):
        pytest.skip("the whole benchmark takes the place of the subset")
    [path] = files(folder, "writingbench/length_subset.jsonl")
    return {"questions": sum(each["domain1"] == "Politics & Law" for each in objects(path))}


def limitgen(folder: Path) -> Counts:
    return {"questions": len(files(folder, "limitgen_syn/annotated/*/*.json"))}


def memdaily(folder: Path) -> Counts:
    found = [
        each
        for path in files(folder, "memdaily/messages_and_QAs/*.json")
        for each in json.loads(path.read_text(encoding="utf-8"))
    ]
    asked = [question for each in found for question in each["question_list"]]

    def invalid(question: dict[str, Any]) -> bool:
        marked = any(MARK.search(str(question[name])) for name in ("question", "answer", "choices"))
        options = question["choices"].values() if isinstance(question["choices"], dict) else ()
        return marked or question["answer"] is None or len(set(options)) < len(options)

    return {
        "trajectories": len(found),
        "steps": sum(len(each["message_list"]) for each in found),
        "questions": len(asked),
        "quarantined": sum(map(invalid, asked)),
    }


def personamem(folder: Path) -> Counts:
    [table], [contexts] = (
        files(folder, "personamem/questions_32k.csv"),
        files(folder, "personamem/shared_*_32k.jsonl"),
    )
    asked, shared = list(rows(table)), objects(contexts)

    def invalid(row: dict[str, str]) -> bool:
        texts = [" ".join(option[4:].split()) for option in ast.literal_eval(row["all_options"])]
        return texts.count(texts["abcd".index(row["correct_answer"][1])]) > 1

    names = {name for each in shared for name in each}
    return {
        "contexts": len(shared),
        "messages": sum(len(messages) for each in shared for messages in each.values()),
        "questions": len(asked),
        "quarantined": sum(invalid(row) for row in asked if row["shared_context_id"] in names),
    }


def friendsqa(folder: Path) -> Counts:
    scenes = [
        each
        for path in files(folder, "friendsqa/friendsqa_*.json")
        for each in json.loads(path.read_text(encoding="utf-8"))["data"]
    ]
    paragraphs = [paragraph for scene in scenes for paragraph in scene["paragraphs"]]
    return {
        "scenes": len(scenes),
        "utterances": sum(len(each["utterances:"]) for each in paragraphs),
        "questions": sum(len(each["qas"]) for each in paragraphs),
    }


OWN_COUNTS: Mapping[str, Callable[[Path], Counts]] = {
    "amemgym_v1_base": amemgym,
    "locomo": locomo,
    "locomo10": locomo,
    "dialsim_friends": script("friends"),
    "dialsim_bigbang": script("bigbang"),
    "dialsim_theoffice": script("theoffice"),
    "lexeval_qa": number_of_lines("lexeval/5_4.json"),
    "lexeval_summarization": number_of_lines("lexeval/5_1.json"),
    "lexeval_judge": number_of_lines("lexeval/5_2.json"),
    "judge": number_of_lines("judge/t*.json"),
    "nfcats": nfcats,
    "hellobench_qa": hellobench,
    "writingbench_law": writingbench,
    "limitgen": limitgen,
    "memdaily": memdaily,
    "personamem_32k": personamem,
    "friendsqa": friendsqa,
}


@pytest.mark.parametrize("name", OWN_COUNTS)
def test_published_files_are_read_completely_and_only_known_defects_are_quarantined(
    name: str, folder: Path
) -> None:
    own = dict(OWN_COUNTS[name](folder))
    library = Library(folder)
    found: DataCheck = check_dataset(library, library.known[name])
    assert found.state != "rejected", found.problems
    quarantined = own.pop("quarantined", 0)
    assert len(found.quarantined) == quarantined
    assert all(item.known for item in found.quarantined)
    counts = {"records": found.records, **found.counts}
    assert {unit: counts[unit] for unit in own} == own
