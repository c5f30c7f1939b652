from typing import Any


async def test_scores_of_retrieval_memories_are_between_none_and_oracle(demo: Any, scored: Any) -> None:
    found = {}
    for memory in ("none", "recent", "bm25_message", "bm25_session", "embed_message", "full", "oracle"):
        replies, scores = await scored(demo, memory)
        assert all(reply.reason is None for reply in replies)
        found[memory] = {score.metric: score.value for score in scores if score.slice == "all"}
    for metric in ("locomo_f1", "rouge_l"):
        values = {memory: scores[metric] for memory, scores in found.items()}
        assert min(values, key=lambda memory: values[memory] or 0.0) == "none"
        assert max(values, key=lambda memory: values[memory] or 0.0) == "oracle"
        for memory in ("bm25_message", "bm25_session", "embed_message", "full"):
            assert values["none"] < values["recent"] < values[memory] < values["oracle"], (metric, values)


async def test_scores_have_slices_per_data_set_and_category_with_probe_counts(demo: Any, scored: Any) -> None:
    _, scores = await scored(demo, "full")
    slices = {(score.metric, score.slice): score for score in scores}
    assert {name for metric, name in slices if metric == "locomo_f1"} == {
        "all", "dataset memorybench_sample", *(f"category {number}" for number in range(1, 6)),
    }  # fmt: skip
    assert {name for metric, name in slices if metric == "rouge_l"} == {
        "all", "dataset sample_open", "dataset sample_legal", "dataset sample_academic",
    }  # fmt: skip
    total = slices["locomo_f1", "all"]
    assert (total.n, total.n_episodes, total.coverage) == (12, 1, 1.0)
    assert (total.low, total.interval_reason) == (None, "1 episode"), "its probes share a corpus"
    parts = [slices["locomo_f1", f"category {number}"] for number in range(1, 6)]
    assert sum(part.n for part in parts) == total.n
    mean = sum((part.value or 0.0) * part.n for part in parts) / total.n
    assert total.value is not None and abs(total.value - mean) < 1e-12
