import json
from collections import Counter
from dataclasses import replace
from typing import Any

from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.probes import probes
from memflow.benchmarks.memorybench.selection import DIALOGUES, select
from memflow.benchmarks.memorybench.tasks.catalog import LOCOMO_F1
from memflow.benchmarks.memorybench.turns import turns
from memflow.benchmarks.registry import find_domain
from memflow.memories.memory import Recall
from memflow.metrics.text import locomo_f1
from memflow.records import Record

OPEN = find_domain("memorybench_open")
DEMO = find_domain("memorybench_demo")


def test_locomo_turns_are_unique_and_follow_the_episode_of_training_dialogues(locomo: list[Record]) -> None:
    said = turns(OPEN.name, select(OPEN, locomo))
    assert len(said) == 5882
    assert len({turn.message_id for turn in said}) == 5882
    assert len({(turn.episode_id, turn.event) for turn in said}) == 272
    all_probes = probes(OPEN.name, select(OPEN, locomo))
    assert {message for probe in all_probes for message in probe.evidence} <= {
        turn.message_id for turn in said
    }
    assert sum(not probe.evidence for probe in all_probes) <= 4
    assert {(turn.base, turn.kind, turn.checkpoint) for turn in said} == {(DIALOGUES, "given", 0)}
    first = said[0]
    assert (first.message_id, first.speaker, first.role) == ("locomo-0/D1:1", "Caroline", "user")
    assert first.sent_at == "1:56 pm on 8 May, 2023"


def test_locomo_split_matches_published_split_per_category(locomo: list[Record]) -> None:
    all_probes = probes(OPEN.name, select(OPEN, locomo))
    by_split = {
        split: Counter(probe.category for probe in all_probes if probe.split == split)
        for split in ("test", "train")
    }
    assert by_split["test"] == {"1": 6, "2": 4, "3": 1, "4": 18, "5": 21}
    assert by_split["train"] == {"1": 47, "2": 55, "3": 16, "4": 55, "5": 27}
    first = [
        probe.probe_id for probe in all_probes if probe.episode_id == "locomo-0" and probe.split == "test"
    ]
    assert first == [f"locomo-0/{place}" for place in (129, 189, 163, 143, 188)]


def test_locomo_evidence_ids_and_gold_of_invented_file_are_normalized(read_files: Any) -> None:
    said = {
        "speaker_a": "Ann", "speaker_b": "Bo", "session_1_date_time": "2 May, 2024",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I own a kite.", "blip_caption": "a green kite"},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "I own a boat."},
        ],
        "session_2_date_time": "3 May, 2024",
    }  # fmt: skip
    all_probes = [
        {"question": "Q1?", "answer": 1, "evidence": ["D1:2; D1:01", "D9:9", "D"], "category": 1},
        {"question": "Q2?", "adversarial_answer": "a tug", "evidence": ["D1:1"], "category": 5},
        {"question": "Q3?", "adversarial_answer": "a raft", "evidence": ["D1:1"], "category": 5},
        {"question": "Q4?", "answer": "no", "evidence": [], "category": 3},
    ]
    content = json.dumps([{"sample_id": "t", "conversation": said, "qa": all_probes}])
    records = read_files("locomo", {"locomo/locomo10.json": content})
    found = {probe.question: probe for probe in probes("d", select(OPEN, records))}
    assert found["Q1?"].gold == "1"
    assert found["Q1?"].evidence == ["locomo-0/D1:2", "locomo-0/D1:1"]
    assert found["Q1?"].revealed == "[2 May, 2024] Bo: I own a boat.\n[2 May, 2024] Ann: I own a kite."
    assert found["Q2?"].options == ["Not mentioned in the conversation", "a tug"]
    assert found["Q3?"].options == ["a raft", "Not mentioned in the conversation"]
    assert found["Q4?"].revealed == "no"
    for name in ("Q2?", "Q3?"):
        assert locomo_f1(found[name].revealed, found[name].gold, 5) == 1.0
    assert not any("green" in turn.text for turn in turns("d", select(OPEN, records)))


def test_limited_domain_selects_training_cases_that_test_cases_need_as_evidence(sample: list[Record]) -> None:
    for limit in (0, 1, 4, 9):
        domain = DEMO.limited(limit)
        all_probes = probes(domain.name, select(domain, sample))
        train = {probe.probe_id: probe for probe in all_probes if probe.split == "train"}
        test = [probe for probe in all_probes if probe.split == "test"]
        assert limit in (0, len(test))
        for probe in test:
            if probe.metric == "rouge_l":
                (evidence,) = probe.evidence
                case_id = evidence.removeprefix("feedback/").removesuffix("/2")
                assert train[case_id].revealed == probe.revealed
                assert train[case_id].question != probe.question


def test_answer_prompt_depends_on_category_and_language_of_probe(sample: list[Record]) -> None:
    bench = MemoryBench()
    names = {}
    for probe in probes(DEMO.name, select(DEMO, sample)):
        question = bench.question(DEMO, probe, Recall(notes="what is known"), None)
        assert question.query == probe.question
        text = "\n".join(message.content for message in question.prompt.render(question.fields))
        assert "what is known" in text
        assert all(option in text for option in probe.options)
        assert probe.options or probe.gold not in text
        names[(probe.category, probe.language)] = question.prompt.name.removeprefix("memorybench/")
        with_gold = bench.question(DEMO, probe, Recall(), probe.revealed)
        assert probe.revealed in with_gold.prompt.render(with_gold.fields)[-1].content
    assert names == {
        ("1", "en"): "locomo_short", ("2", "en"): "locomo_date", ("3", "en"): "locomo_short",
        ("4", "en"): "locomo_short", ("5", "en"): "locomo_choice",
        (None, "en"): "answer_en", (None, "zh"): "answer_zh",
    }  # fmt: skip


def test_query_parameter_selects_full_prompt_as_recall_query(sample: list[Record]) -> None:
    """Build the query of the published code: instructions, question and options, without recalled text or gold."""
    bench, prompted = MemoryBench(), replace(DEMO, parameters={"query": "prompt"})
    for probe in probes(DEMO.name, select(DEMO, sample)):
        bare = bench.question(prompted, probe, Recall(), None)
        assert bare.query == bare.prompt.render(bare.fields)[-1].content
        assert probe.question in bare.query and all(option in bare.query for option in probe.options)
        recalled = bench.question(prompted, probe, Recall(notes="what is known"), None)
        with_gold = bench.question(prompted, probe, Recall(), "the gold")
        assert recalled.query == with_gold.query == bare.query
        assert recalled.fields["notes"] == "what is known" and with_gold.fields["notes"] == "the gold"
        if probe.metric == LOCOMO_F1:
            assert bare.query != probe.question
