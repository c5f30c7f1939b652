"""The retrieval metrics equal the published functions: hand-worked cases, and published values where data is there."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from longmemeval_rows import lines

from memflow.benchmarks.longmemeval.retrieval import effective_k, evaluate, evaluate_sessions


def without_turn(name: str) -> str:
    return name.rpartition("_")[0]


def test_rank_two_is_not_discounted_and_rank_three_is() -> None:
    assert evaluate(["x", "a"], ["a"], 1, 5) == (1.0, 1.0, 1.0)
    assert evaluate(["x", "y", "a"], ["a"], 1, 5).ndcg_any == pytest.approx(1 / math.log2(3))


def test_recall_all_is_one_without_relevant_documents() -> None:
    assert evaluate(["x", "y"], [], 0, 2) == (0.0, 1.0, 0.0)


def test_recall_any_needs_one_document_and_recall_all_needs_all() -> None:
    assert evaluate(["a", "x", "b"], ["a", "b"], 2, 2)[:2] == (1.0, 0.0)
    assert evaluate(["a", "x", "b"], ["a", "b"], 2, 3)[:2] == (1.0, 1.0)


def test_cutoff_is_raised_until_k_sessions_are_found() -> None:
    assert effective_k(["s", "s", "t", "t", "u"], 2) == 3
    assert effective_k(["s", "s", "s"], 2) == 3
    assert effective_k(["s", "t", "u"], 2) == 2


def test_each_turn_of_a_session_counts_in_the_ndcg_of_turn_to_session() -> None:
    names = {"a1": "a", "a2": "a", "x": "x"}
    found = evaluate_sessions(["a1", "x", "a2"], names, ["a1", "a2"], 2, 3)
    assert found.recall_all == 1.0
    assert found.ndcg_any == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_random_rankings_have_the_values_of_the_published_functions(data: Path) -> None:
    cases: list[dict[str, Any]] = json.loads((data / "retrieval_metric_cases.json").read_text())
    assert len(cases) == 80
    for case in cases:
        ids, relevant = case["corpus_ids"], case["correct"]
        ranked = [ids[place] for place in case["ranking"]]
        in_corpus = sum(each in relevant for each in ids)
        sessions = {each: without_turn(each) for each in ids}
        for k, expected in case["recall_any_recall_all_ndcg"].items():
            assert evaluate(ranked, relevant, in_corpus, int(k)) == pytest.approx(expected["turn"], abs=1e-12)
            found = evaluate_sessions(ranked, sessions, relevant, in_corpus, int(k))
            assert found == pytest.approx(expected["turn2session"], abs=1e-12)


def test_rankings_of_real_histories_have_the_published_values(data: Path) -> None:
    for row in lines(data / "retrieval_golden_bm25.jsonl"):
        ids, relevant = row["ranked_ids"], row["correct"]
        in_corpus = sum(each in relevant for each in ids)
        sessions = {each: without_turn(each) for each in ids}
        turns = row["granularity"] == "turn"
        for grain, metrics in row["metrics"].items():
            for name, value in metrics.items():
                metric, _, k = name.partition("@")
                found = (
                    evaluate_sessions(ids, sessions, relevant, in_corpus, int(k))
                    if turns and grain == "session"
                    else evaluate(ids, relevant, in_corpus, int(k))
                )
                assert getattr(found, metric) == pytest.approx(value, abs=1e-12), (row["question_id"], name)


def test_published_log_has_the_values_of_its_rankings(data: Path) -> None:
    rows = lines(data / "retrieval_log_mempalace_20.jsonl")
    compared = 0
    for row in rows:
        ids = [item["corpus_id"] for item in row["retrieval_results"]["ranked_items"]]
        relevant = {each for each in ids if "answer" in each}
        for name, value in row["retrieval_results"]["metrics"]["session"].items():
            metric, _, k = name.partition("@")
            if metric == "recall_any":
                assert evaluate(ids, relevant, len(relevant), int(k)).recall_any == value
                compared += 1
    assert compared == 120
