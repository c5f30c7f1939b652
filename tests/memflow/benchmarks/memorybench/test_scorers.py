from dataclasses import replace
from typing import Any

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.registry import find_domain
from memflow.metrics.backends import MetricBackends
from memflow.scoring.groups import groups_of

BENCH = MemoryBench()
DEMO = find_domain("memorybench_demo")


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


async def test_failed_or_missing_reply_lowers_coverage_of_its_metric(demo: Any, scored: Any) -> None:
    replies, _ = await scored(demo, "full")
    test_probes = [probe for probe in demo.probes if probe.split == "test"]
    broken = [replace(reply, parsed=None, reason="no answer") for reply in replies[:2]] + replies[3:]
    verdicts = await BENCH.verdicts(DEMO, demo.probes, broken, MetricBackends())
    assert [verdict.probe_id for verdict in verdicts] == [probe.probe_id for probe in test_probes]
    assert [verdict.value for verdict in verdicts[:3]] == [None] * 3
    assert verdicts[0].reason == "no answer"
    assert "no reply" in (verdicts[2].reason or "")
    groups = groups_of(verdicts)
    results = AssistantResults(
        DEMO.name, "full", "full", "m", test_probes, [], [], [], "s", True, groups=groups,
        population=BENCH.population(groups),
    )  # fmt: skip
    scores = {(score.metric, score.slice): score for score in BENCH.scores(DEMO, results)}
    total = scores["locomo_f1", "all"]
    assert (total.value, total.n, total.coverage) == (None, 9, 0.75)
    assert "9 of 12" in (total.reason or "")
    assert scores["rouge_l", "all"].value is not None
