"""Turns and probes of LoCoMo's conversations: parameters, evidence, captions, and invalid parts of a file."""

from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.episodes import given_episodes
from memflow.benchmarks.locomo.config import parse_config
from memflow.benchmarks.locomo.question import build_question
from memflow.errors import BadSettings
from memflow.memories.memory import Recall
from memflow.run.play import Episode

GOLD_OF_ADVERSARIAL = "Not mentioned in the conversation"


def test_probes_are_of_the_selected_categories_and_default_leaves_adversarial_questions_out(sample) -> None:
    assert {probe.category for probe in sample().probes} == {"1", "2", "3", "4"}
    assert len(sample().probes) == 15
    adversarial = sample(categories=(5,)).probes
    assert [probe.category for probe in adversarial] == ["5"] * 3
    assert {probe.gold for probe in adversarial} == {GOLD_OF_ADVERSARIAL}
    assert all(not probe.evidence and GOLD_OF_ADVERSARIAL in probe.options for probe in adversarial)
    assert all(probe.options == [] for probe in sample(categories=(5,), adversarial="open").probes)


def test_probe_has_evidence_messages_gold_and_the_first_contract_as_metric(sample) -> None:
    built = sample(contracts=("j_strict", "j_2025"))
    probes = {probe.probe_id: probe for probe in built.probes}
    parrots, sports = probes["sample-1/q6"], probes["sample-2/q3"]
    assert (parrots.gold, parrots.evidence, parrots.metric) == ("2", ["sample-1/D1:4"], "j_strict")
    assert sports.evidence == ["sample-2/D2:4", "sample-2/D3:1"], "the key writes both ids in one text"
    assert (
        "[28 February" not in sports.revealed
        and "7:20 pm on 28 February, 2025] Priya: I cycled" in sports.revealed
    )
    messages = {turn.message_id for turn in built.turns}
    assert all(set(probe.evidence) <= messages for probe in built.probes)


def test_captions_are_part_of_messages_unless_left_out(sample) -> None:
    def text(**parameters: Any) -> str:
        return next(turn.text for turn in sample(**parameters).turns if turn.message_id == "sample-1/D1:3")

    assert text() == (
        "Comet already has a favorite place on the sofa. [shares an image: a gray dog asleep on a yellow sofa]"
    )
    assert text(captions="left_out") == "Comet already has a favorite place on the sofa."


@pytest.mark.parametrize(
    ("arrivals", "sizes"), [("session", [4, 4, 3]), ("pair", [2, 2, 2, 2, 2, 1]), ("message", [1] * 11)]
)
def test_messages_arrive_in_batches_that_end_with_the_session(
    sample, arrivals: str, sizes: list[int]
) -> None:
    built = sample(arrivals=arrivals)
    episodes: list[Episode] = given_episodes(built.turns)
    assert [episode.episode_id for episode in episodes] == ["sample-1", "sample-2"]
    assert [len(event.messages) for event in episodes[0].events] == sizes
    assert {turn.role for turn in built.turns if turn.speaker in ("Ilse", "Priya")} == {"user"}
    assert {turn.role for turn in built.turns if turn.speaker in ("Tomas", "Owen")} == {"assistant"}
    assert built.turns[0].sent_at == "9:10 am on 4 March, 2024"


def test_known_errors_are_left_out_on_request_and_only_for_the_audited_text(sample, tmp_path: Path) -> None:
    assert "sample-1/q7" in {probe.probe_id for probe in sample().probes}
    without = sample(known_errors="left_out")
    assert {probe.probe_id for probe in sample().probes} - {probe.probe_id for probe in without.probes} == {
        "sample-1/q7"
    }

    def reword(talks: list[Any]) -> None:
        talks[0]["qa"][7]["question"] = "What does Tomas photograph?"

    assert "sample-1/q7" in {
        probe.probe_id for probe in sample(reword, tmp_path, known_errors="left_out").probes
    }


def test_invalid_question_is_a_probe_with_a_reason_and_others_stay_valid(sample, tmp_path: Path) -> None:
    def damage(talks: list[Any]) -> None:
        del talks[0]["qa"][0]["answer"]
        talks[0]["qa"][1] = "no question"
        talks[0]["qa"][2]["category"] = 9
        del talks[0]["qa"][8]["adversarial_answer"]  # of category 5, which the domain leaves out

    built = sample(damage, tmp_path)
    invalid = {probe.probe_id: probe.reason for probe in built.probes if probe.reason}
    assert list(invalid) == ["sample-1/q0", "sample-1/q1", "sample-1/q2"]
    assert "lacks answer" in invalid["sample-1/q0"] and "question 0 of sample-1" in invalid["sample-1/q0"]
    assert len(built.probes) == 15
    assert {probe.probe_id for probe in sample(damage, tmp_path, categories=(5,)).probes if probe.reason} == {
        "sample-1/q1",
        "sample-1/q2",
        "sample-1/q8",
    }


def test_invalid_message_costs_its_conversation_alone(sample, tmp_path: Path) -> None:
    def damage(talks: list[Any]) -> None:
        talks[1]["conversation"]["session_2"][1]["speaker"] = "Somebody"

    built = sample(damage, tmp_path)
    assert [record.reason is None for record in built.records] == [True, False]
    assert "'Somebody', is neither `speaker_a`" in str(built.records[1].reason)
    assert {turn.episode_id for turn in built.turns} == {"sample-1"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"categories": (6,)}, "categories"),
        ({"contracts": ()}, "contracts"),
        ({"contracts": ("j_2025", "j_2025")}, "contracts: j_2025 occurs twice"),
        ({"judge_runs": 0}, "judge_runs"),
        ({"adversarial": "maybe"}, "adversarial"),
    ],
)
def test_invalid_parameter_is_rejected_by_name(sample, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSettings, match=message):
        sample(**parameters)


def test_question_prompts_follow_category_options_and_parameter(sample) -> None:
    recall = Recall(notes="[2 June, 2024] Ilse: Hello")

    def stems(**parameters: Any) -> dict[str, str]:
        built = sample(**parameters)
        return {
            probe.category: build_question(probe, recall, None, parse_config(built.domain)).prompt.name
            for probe in built.probes
        }

    memories = "locomo/answer_memories"
    every = (1, 2, 3, 4, 5)
    assert stems(categories=every) == dict.fromkeys("1234", memories) | {"5": "locomo/answer_choice"}
    assert stems(categories=every, adversarial="open") == dict.fromkeys("12345", memories)
    short = stems(answer_prompt="short")
    assert short == dict.fromkeys("134", "locomo/answer_short") | {"2": "locomo/answer_date"}
