"""The check of data sets: counts, known defects, and the state of damaged, partial and missing files."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from published_files import memdaily

from memflow.benchmarks.datasets import Dataset, Defect
from memflow.benchmarks.registry import find_dataset
from memflow.resources.data.data_check import DataCheck, check_dataset
from memflow.resources.data.library import Library

SOURCE = "memdaily/messages_and_QAs/01_simple_roles.json"
NULLS = Defect("questions with a null as answer", "at answer", 1)


def check(folder: Path, content: bytes | None, **changes: Any) -> DataCheck:
    """Write a MemDaily file, and check the data set with these changes of its declaration."""
    declared = {"files": (SOURCE,), "optional": (), "counts": {}, "defects": (), "partial": False, **changes}
    dataset: Dataset = replace(find_dataset("memdaily"), **declared)
    if content is not None:
        (folder / SOURCE).parent.mkdir(parents=True)
        (folder / SOURCE).write_bytes(content)
    return check_dataset(Library(folder, {dataset.name: dataset}), dataset)


def content(nulls: int = 0, count: int = 3) -> bytes:
    """Return trajectories, the first `nulls` of them without an answer."""
    found = [memdaily(number) for number in range(count)]
    for each in found[:nulls]:
        each["question_list"][0]["answer"] = None
    return json.dumps(found).encode()


def test_check_of_a_valid_file_reports_counts_and_searched_paths(tmp_path: Path) -> None:
    found = check(tmp_path, content(), counts={"trajectories": 3})
    assert (found.state, found.failed, found.problems) == ("valid", False, ())
    assert (found.records, found.counts) == (3, {"trajectories": 3, "steps": 3, "questions": 3})
    assert found.searched == {str(tmp_path / SOURCE): True}


def test_check_of_a_missing_file_lists_its_path_and_does_not_fail(tmp_path: Path) -> None:
    found = check(tmp_path, None)
    assert (found.state, found.failed, found.searched) == ("missing", False, {str(tmp_path / SOURCE): False})


def test_data_check_fails_if_a_count_differs_from_the_published_count(tmp_path: Path) -> None:
    found = check(tmp_path, content(), counts={"trajectories": 4})
    assert (found.state, found.failed) == ("differs", True)
    assert found.problems == ("3 trajectories, but 4 are published",)


def test_partial_data_set_may_have_a_smaller_but_not_a_larger_count_than_published(tmp_path: Path) -> None:
    assert check(tmp_path / "a", content(), counts={"trajectories": 4}, partial=True).state == "part"
    assert check(tmp_path / "b", content(), counts={"trajectories": 2}, partial=True).failed


def test_data_check_with_a_known_defect_succeeds_and_lists_its_items(tmp_path: Path) -> None:
    found = check(tmp_path, content(nulls=1), defects=(NULLS,))
    assert not found.failed
    assert [(item.item, item.known) for item in found.quarantined] == [
        ("observation/simple/roles/0, question 0", NULLS.what)
    ]


@pytest.mark.parametrize(
    ("defects", "problem"),
    [
        ((), "quarantined items without a known defect: 2"),
        ((NULLS,), "2 questions with a null as answer, but 1 are known"),
    ],
)
def test_data_check_fails_for_unknown_defects_and_for_more_defects_than_known(
    tmp_path: Path, defects: tuple[Defect, ...], problem: str
) -> None:
    found = check(tmp_path, content(nulls=2), defects=defects)
    assert found.failed and found.problems == (problem,)


@pytest.mark.parametrize(
    ("file", "published", "advice"),
    [
        (b"[{", None, "compare the file with its source"),
        (b"[{", hashlib.sha256(b"[{").hexdigest(), "equal to the published one: report this message"),
        (content(), "0" * 64, "differs from the published file"),
    ],
    ids=["unknown checksum", "as published", "another file"],
)
def test_rejected_file_has_the_advice_of_its_checksum(
    tmp_path: Path, file: bytes, published: str | None, advice: str
) -> None:
    checksums = {} if published is None else {"sums": {SOURCE: published}}
    rejected = check(tmp_path, file, **checksums)
    assert (rejected.state, rejected.failed) == ("rejected", True)
    assert advice in rejected.problems[0]
