"""Published noise: units of rounds, units of messages, and rejected files."""

from pathlib import Path

from membench_files import names, read

from memflow.benchmarks.membench.published.noise import published_units

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
