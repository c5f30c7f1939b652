"""The names of repeats, and what a repeat evaluates again."""

import pytest

from memflow.errors import BadSettings
from memflow.repeats import (
    Kind,
    Repeat,
    memory_name,
    plain_name,
    repeat_in,
    request_repeat,
    source_of,
    suffix,
    with_memory,
    with_repeats,
)


def test_repeats_follow_the_assistants_and_are_named_after_them() -> None:
    names = with_repeats(["none", "rag@big"], 3, Kind.answers)
    assert names == (
        "none",
        "rag@big",
        "none~answers2",
        "rag@big~answers2",
        "none~answers3",
        "rag@big~answers3",
    )
    assert with_repeats(names, 2, Kind.answers) == names
    assert with_repeats(["none"], 1, Kind.run) == ("none",)


def test_parts_of_a_name() -> None:
    assert repeat_in("rag@big~run12") == Repeat("rag@big", "run", 12)
    assert repeat_in("rag@big") == Repeat("rag@big")
    assert plain_name("rag@big~run12") == "rag@big" and memory_name("rag@big~run12") == "rag"
    assert memory_name("rag~judge2") == "rag"
    assert suffix("locomo~2/rag@big~run12") == "run12" and suffix("locomo~2/rag") == suffix("locomo~2") == ""


@pytest.mark.parametrize(
    "name", ["rag~", "rag~answers", "rag~answers1", "rag~answers02", "rag~other2", "~run2"]
)
def test_other_names_with_the_mark_are_rejected(name: str) -> None:
    with pytest.raises(BadSettings, match="full~answers2"):
        repeat_in(name)


def test_baseline_of_a_repeat_is_of_the_same_repeat_and_model() -> None:
    assert with_memory("rag@big~run2", "none") == "none@big~run2"
    assert with_memory("rag~run2", "none") == "none~run2"
    assert with_memory("rag", "none") == "none"


def test_repeat_shares_the_tables_that_it_does_not_compute() -> None:
    shared = {
        name: [
            table
            for table in ("memory.indexes", "answer.replies", "score.claims", "score.verdicts")
            if source_of(table, name) == "rag"
        ]
        for name in ("rag~answers2", "rag~run2", "rag~judge2")
    }
    assert shared == {
        "rag~answers2": ["memory.indexes", "score.claims"],
        "rag~run2": [],
        "rag~judge2": ["memory.indexes", "answer.replies"],
    }


def test_only_the_repeated_stages_send_requests_of_their_own() -> None:
    stages = ("state", "memory", "answer", "score")
    numbers = {
        name: [request_repeat(name, stage) for stage in stages]
        for name in ("rag", "rag~answers3", "rag~run3", "rag~judge3")
    }
    assert numbers == {
        "rag": [1, 1, 1, 1],
        "rag~answers3": [1, 1, 3, 3],
        "rag~run3": [1, 3, 3, 3],
        "rag~judge3": [1, 1, 1, 3],
    }
