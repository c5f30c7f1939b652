"""HelloBench's files, read as three tasks."""

import json
from collections import Counter
from typing import Any

import pytest

from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.memorybench.selection import select
from memflow.benchmarks.registry import find_domain

ACADEMIC, OPEN = find_domain("memorybench_academic"), find_domain("memorybench_open")
CHAT, QA, SUMMARIES, HEURISTIC, COMPLETION = (
    f"hellobench/{name}.jsonl"
    for name in ("chat", "open_ended_qa", "summarization", "heuristic_text_generation", "text_completion")
)


def line(name: str, category: str, **given: Any) -> dict[str, Any]:
    checklist = [
        {"checklist_id": 0, "checklist_content": "Is it long?"},
        {"checklist_id": 1, "checklist_content": "Ok?"},
    ]
    return {
        "id": name, "category": category, "instruction": f"Write {name}.", "checklists": ["Is it long?", "Ok?"],
        "formatted_checklists": json.dumps(checklist), "num_checklist": 2, "raw_text": name, "requirements": None,
        **given,
    }  # fmt: skip


CHATS = [
    line("chat_1", "rewrite"), line("chat_2", "science_problem_solve"), line("chat_3", "academic_write"),
    line("chat_4", "script_write"),
]  # fmt: skip
HEURISTICS = [line("h_1", "keyword_writing"), line("h_2", "story_writing")]


def cases(records: Any) -> list[tuple[str, str | None, str | None]]:
    (pool,) = build_pools(records)
    return [(case.case_id, case.category, case.stratum) for case in pool.cases]


def test_hellobench_tasks_select_cases_of_their_categories_in_file_order(read_files) -> None:
    files = {
        CHAT: CHATS,
        QA: [line("qa_1", "Sport")],
        HEURISTIC: HEURISTICS,
        COMPLETION: [line("t_1", "any")],
    }
    assert cases(read_files("hellobench_qa", files)) == [
        ("qa_1", "Sport", "open_ended_qa"), ("chat_2", "science_problem_solve", "chat"),
    ]  # fmt: skip
    assert cases(read_files("hellobench_creative", files)) == [
        ("chat_4", "script_write", "chat"),
        ("h_2", "story_writing", "heuristic_text_generation"),
        ("t_1", "any", "text_completion"),
    ]
    assert cases(read_files("hellobench_writing", files)) == [
        ("chat_3", "academic_write", "chat"), ("h_1", "keyword_writing", "heuristic_text_generation"),
    ]  # fmt: skip


def test_hellobench_case_has_checklist_as_gold(read_files) -> None:
    (pool,) = build_pools(read_files("hellobench_qa", {CHAT: CHATS, QA: [line("qa_1", "Sport")]}))
    case = pool.cases[0]
    assert case.question == "Write qa_1."
    assert json.loads(case.gold) == {"checklist": ["Is it long?", "Ok?"]}
    assert case.revealed == "- Is it long?\n- Ok?"
    assert pool.task.metric == "checklist"


@pytest.mark.parametrize(
    ("name", "domain", "strata", "test"),
    [
        ("hellobench_qa", ACADEMIC, {"open_ended_qa": 200, "chat": 13}, 43),
        (
            "hellobench_creative",
            OPEN,
            {"chat": 76, "heuristic_text_generation": 75, "text_completion": 77},
            47,
        ),
    ],
)
def test_published_hellobench_files_give_published_split_sizes(
    read_published, name: str, domain: Any, strata: dict[str, int], test: int
) -> None:
    records = read_published(name)
    assert Counter(stratum for *_, stratum in cases(records)) == strata
    (selected,) = select(domain, records)
    assert (len(selected.test), len(selected.train)) == (test, sum(strata.values()) - test)
