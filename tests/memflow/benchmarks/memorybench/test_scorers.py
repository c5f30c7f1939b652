from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import find
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.chat.prompts import all_prompts
from memflow.metrics.backends import MetricBackends
from memflow.records import Reply, Score
from memflow.scoring.groups import groups_of

BENCH = MemoryBench()
DEMO = find("memorybench_demo")
Scored = Callable[[Any, str], Awaitable[tuple[list[Reply], list[Score]]]]


def alls(figures: list[Score]) -> dict[str, float | None]:
    return {figure.metric: figure.value for figure in figures if figure.slice == "all"}


async def test_demo_scores_rise_with_memory(demo: Any, scored: Scored) -> None:
    found = {}
    for memory in ("none", "recent", "bm25_message", "bm25_session", "embed_message", "full", "oracle"):
        replies, figures = await scored(demo, memory)
        assert all(reply.reason is None for reply in replies)
        found[memory] = alls(figures)
    for metric in ("locomo_f1", "rouge_l"):
        values = {memory: figures[metric] for memory, figures in found.items()}
        assert min(values, key=lambda memory: values[memory] or 0.0) == "none"
        assert max(values, key=lambda memory: values[memory] or 0.0) == "oracle"
        for memory in ("bm25_message", "bm25_session", "embed_message", "full"):
            assert values["none"] < values["recent"] < values[memory] < values["oracle"], (metric, values)


async def test_figures_have_their_slices_and_denominators(demo: Any, scored: Scored) -> None:
    _, figures = await scored(demo, "full")
    slices = {(figure.metric, figure.slice): figure for figure in figures}
    assert {name for metric, name in slices if metric == "locomo_f1"} == {
        "all", "dataset memorybench_sample", *(f"category {number}" for number in range(1, 6)),
    }  # fmt: skip
    assert {name for metric, name in slices if metric == "rouge_l"} == {
        "all", "dataset sample_open", "dataset sample_legal", "dataset sample_academic",
    }  # fmt: skip
    whole = slices["locomo_f1", "all"]
    assert (whole.n, whole.n_episodes, whole.coverage) == (12, 1, 1.0)
    assert whole.low < whole.value < whole.high  # of one episode: over its probes
    parts = [slices["locomo_f1", f"category {number}"] for number in range(1, 6)]
    assert sum(part.n for part in parts) == whole.n
    mean = sum((part.value or 0.0) * part.n for part in parts) / whole.n
    assert whole.value is not None and abs(whole.value - mean) < 1e-12


async def test_failed_reply_lowers_coverage(demo: Any, scored: Scored) -> None:
    replies, _ = await scored(demo, "full")
    asked = [probe for probe in demo.probes if probe.split == "test"]
    broken = [replace(reply, parsed=None, reason="no answer") for reply in replies[:2]] + replies[3:]
    verdicts = await BENCH.verdicts(DEMO, demo.probes, broken, MetricBackends())
    assert [verdict.probe_id for verdict in verdicts] == [probe.probe_id for probe in asked]
    assert [verdict.value for verdict in verdicts[:3]] == [None] * 3
    assert verdicts[0].reason == "no answer"
    assert "no reply" in (verdicts[2].reason or "")
    measured = held(asked, verdicts)
    figures = {(figure.metric, figure.slice): figure for figure in BENCH.scores(DEMO, measured)}
    whole = figures["locomo_f1", "all"]
    assert (whole.value, whole.n, whole.coverage) == (None, 9, 0.75)
    assert "9 of 12" in (whole.reason or "")
    assert figures["rouge_l", "all"].value is not None


def held(probes: list[Any], verdicts: list[Any]) -> AssistantResults:
    groups = groups_of(verdicts)
    return AssistantResults(
        DEMO.name, "full", "full", "m", probes, [], [], [], "s", True, groups=groups, pool=groups
    )


def episodes_apart(verdicts: list[Any]) -> list[Any]:
    return [replace(verdict, episode_id=f"e{place % 4}") for place, verdict in enumerate(verdicts)]


async def test_several_episodes_have_an_interval(demo: Any, scored: Scored) -> None:
    replies, _ = await scored(demo, "full")
    verdicts = episodes_apart(await BENCH.verdicts(DEMO, demo.probes, replies, MetricBackends()))
    measured = held(demo.probes, verdicts)
    whole = BENCH.scores(DEMO, measured)[0]
    assert whole.low is not None and whole.value is not None and whole.high is not None
    assert whole.low < whole.value < whole.high
    assert BENCH.scores(DEMO, measured)[0] == whole


def test_every_prompt_has_scripted_handler() -> None:
    package = "memflow.benchmarks.memorybench"
    names = {
        prompt.name
        for part in (package, f"{package}.users", f"{package}.scorers")
        for prompt in all_prompts(part)
    }
    silent = {prompt.name for prompt in BENCH.simulator_prompts() if prompt.output is None}
    assert names - silent == set(BENCH.handlers())
    assert silent < {prompt.name for prompt in BENCH.simulator_prompts()} < names
