"""Published noise: units of rounds, units of messages, and rejected files."""

from pathlib import Path
from typing import Any

import pytest
from membench_files import names, read

from memflow.benchmarks.membench.published.noise import published_units
from tests.reader_faults import reported_faults

MESSAGES, ROUNDS = names("membench_noise")
SAID = [{"nid": 7, "noise_message": [{"message": f"King {number} ruled."} for number in range(3)]}] * 2
TALK = [{"nid": 7, "noise_message": [{"sid": 0, "user": "Which kings?", "assistant": "All of them."}]}]


def test_published_noise_units_are_selected_by_scene(tmp_path: Path):
    records = read("membench_noise", {MESSAGES: SAID, ROUNDS: TALK}, tmp_path)
    units = published_units(records)
    assert list(units) == ["observation-0", "observation-1", "participation-0"]
    assert [step.user for step in units["observation-1"]] == [f"King {number} ruled." for number in range(3)]
    assert published_units(records, "participation") == {"participation-0": units["participation-0"]}
    (step,) = units["participation-0"]
    assert (step.user, step.assistant) == ("Which kings?", "All of them.")
    assert step.sent_at is None and step.noise


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({}, "the file is not a JSON list of noise units"),
        ([], "the file is not a JSON list of noise units"),
        ([{"noise_message": []}], "unit 0: at noise_message"),
        ([{"nid": 0}], "unit 0: at noise_message"),
        ([*SAID, {"noise_message": [{"message": ""}]}], "unit 2: at noise_message.0.message"),
        (
            [*SAID, *TALK],
            "unit 2: some steps do not belong to the scene observation of the file's first unit",
        ),
    ],
)
def test_noise_reader_reports_fault_in_file(tmp_path: Path, content: Any, complaint: str):
    assert complaint in reported_faults(lambda: read("membench_noise", {MESSAGES: content}, tmp_path))
