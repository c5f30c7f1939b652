"""Verdicts of a domain with one case of every task."""

import asyncio
import json
from dataclasses import replace

import factories
import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.verdicts import NO_JUDGE
from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.prompts import all_prompts
from memflow.metrics.backends import MetricBackends
from memflow.records import Reply
from memflow.scoring.catalog import in_range
from memflow.scoring.judges import judge_variant

BENCH = MemoryBench()
SCORERS = "memflow.benchmarks.memorybench.scorers"
JUDGED = {
    "accuracy", "checklist", "criteria", "quality", "rating", "integrated", "llm_rating", "novelty_rank",
    "feasibility_rank",
}  # fmt: skip
NAMES = [name for name in TASKS if name != "memorybench_sample"]
DOMAIN = Domain(
    "tiny", "memorybench", tuple(name for name in NAMES if not name.startswith("sample_")), "one of each"
)
CRITERION = {"name": "Tone", "description": "The tone fits.", "levels": {"1-2": "harsh", "9-10": "warm"}}
GOLDS = {
    "locomo": "a green kite",
    "hellobench": {"checklist": ["Is the kite green?", "Is it kind?"]},
    "sample_checklist": {"checklist": ["Is the kite green?"]},
    "writingbench": {"criteria": [CRITERION, {**CRITERION, "name": "Form"}]},
    "nfcats": {},
    "sample_quality": {},
    "ideabench": {"title": "Kites", "abstract": "A green kite flies."},
    "scitechnews": {"title": "t", "abstract": "a", "pr_title": "p", "pr_summary": "A green kite flies."},
    "limitgen": {"ground_truth": "no ablation of the kite", "category": "ablation"},
}


def gold_of(name: str) -> object:
    return next((gold for prefix, gold in GOLDS.items() if name.startswith(prefix)), "A green kite flies.")


@pytest.fixture
def probes(probe_of, judgment) -> list:
    """Return one probe of every task."""
    golds = {name: judgment if name == "judge" else gold_of(name) for name in NAMES}
    return [probe_of(name, gold, "What is green?", category="4") for name, gold in golds.items()]


def replies(probes, **more) -> list[Reply]:
    said = {
        "limitgen": json.dumps({"limitations": ["no ablation of the kite"]}),
        **{probe.dataset: probe.gold for probe in probes if probe.dataset == "judge"},
    }
    return [
        factories.reply(probe_id=probe.probe_id, parsed=said.get(probe.dataset, "The green kite."), **more)
        for probe in probes
    ]


def expected_keys(probes) -> set[tuple[str, str]]:
    """Return probe and metric of every required verdict."""
    return {
        (probe.probe_id, name)
        for probe in probes
        for name in (TASKS[probe.dataset].metric, *TASKS[probe.dataset].measures)
    }


def metric_keys(verdicts) -> set[tuple[str, str]]:
    return {(verdict.probe_id, verdict.metric.partition("[")[0]) for verdict in verdicts}


@pytest.mark.parametrize("variants", [[], ["published_code"]])
@pytest.mark.parametrize("equipped", [True, False])
async def test_every_task_produces_verdicts_of_its_metrics_and_variants(
    probes, judge, encoders, synonyms, variants, equipped
) -> None:
    domain = replace(DOMAIN, parameters={"variants": variants})
    ledger = MemoryLedger()
    chat = LedgeredChat(judge(), ledger, RequestContext(stage="score"))
    more = {"encoders": encoders, "synonyms": synonyms, "syllables": {}} if equipped else {}
    verdicts = await BENCH.verdicts(domain, probes, replies(probes), MetricBackends(chat, **more))
    assert metric_keys(verdicts) >= expected_keys(probes)
    assert len({(verdict.probe_id, verdict.metric, verdict.variant) for verdict in verdicts}) == len(verdicts)
    assert list(dict.fromkeys(row.probe_id for row in verdicts)) == [probe.probe_id for probe in probes]
    for verdict in verdicts:
        assert (verdict.value is None) == (verdict.reason is not None), verdict
        assert in_range(verdict.metric, verdict.value), verdict
        assert verdict.completion is None or verdict.completion in ledger.kept
    without = {verdict.metric for verdict in verdicts if verdict.value is None}
    if equipped:
        assert not without
        assert {verdict.variant for verdict in verdicts} == {"standard", *variants}
    else:
        assert without == {
            "meteor", "integrated", "bertscore", "fkgl", "llm_rating", "reasoning_bertscore", "judgment_bertscore",
        }  # fmt: skip


async def test_computed_metrics_have_values_without_a_judge_model(probes) -> None:
    verdicts = await BENCH.verdicts(DOMAIN, probes, replies(probes), MetricBackends())
    assert metric_keys(verdicts) >= expected_keys(probes)
    judged = {verdict.metric for verdict in verdicts if NO_JUDGE in (verdict.reason or "")}
    assert judged == JUDGED
    assert all(
        verdict.value is not None for verdict in verdicts if verdict.metric in ("rouge_l", "locomo_f1", "cli")
    )


async def test_unparsed_judge_reply_gives_reason_in_judged_metrics(probes, judge, encoders, synonyms) -> None:
    wrong_judge = judge(**{prompt.name.partition("/")[2]: "42" for prompt in all_prompts(SCORERS)})
    backends = MetricBackends(wrong_judge, encoders, synonyms, {})
    verdicts = await BENCH.verdicts(DOMAIN, probes, replies(probes), backends)
    judged = [verdict for verdict in verdicts if verdict.value is None]
    assert {verdict.metric for verdict in judged} == JUDGED
    assert all(
        "no usable answer" in (verdict.reason or "") for verdict in judged if "_meteor" not in verdict.metric
    )


async def test_failed_reply_has_null_verdict_in_every_metric_without_judge_request(probes, judge) -> None:
    domain = replace(DOMAIN, parameters={"variants": ["published_code"]})
    given = [replace(reply, parsed=None, reason="no answer") for reply in replies(probes)[::2]]
    chat = judge()
    verdicts = await BENCH.verdicts(domain, probes, given, MetricBackends(chat))
    complete = await BENCH.verdicts(domain, probes, replies(probes), MetricBackends(judge()))
    assert not chat.requests
    assert all(
        (row.reason or "").endswith(("no answer", "has no reply; regenerate answer.replies"))
        for row in verdicts
    )
    assert [(row.probe_id, row.metric, row.variant) for row in verdicts] == [
        (row.probe_id, row.metric, row.variant) for row in complete
    ]


async def test_incomplete_gold_gives_reason_to_verdicts_of_its_probe_only(probes, judge) -> None:
    broken = [replace(probe, gold="{}") if probe.dataset == "limitgen" else probe for probe in probes]
    verdicts = await BENCH.verdicts(DOMAIN, broken, replies(probes), MetricBackends(judge()))
    assert {row.reason for row in verdicts if row.dataset == "limitgen"} == {
        "probe limitgen/0: its gold lacks 'category', which the metric rating needs. Rebuild the partition limitgen "
        "of raw/records."
    }
    assert [row.value for row in verdicts if row.dataset == "hellobench_qa"] != [None]


async def test_judge_requests_of_several_probes_are_sent_concurrently(probes, judge) -> None:
    class Slow:
        scripted, fingerprint = True, "slow"

        def __init__(self, inner) -> None:
            self.inner, self.sampling, self.bound = inner, inner.sampling, inner.bound
            self.flying = self.most = 0

        async def complete(self, request):
            self.flying += 1
            self.most = max(self.most, self.flying)
            await asyncio.sleep(0.01)
            self.flying -= 1
            return await self.inner.complete(request)

    checklists = [probe for probe in probes if probe.metric in ("checklist", "criteria", "quality")]
    slow = Slow(judge())
    await BENCH.verdicts(DOMAIN, checklists, replies(checklists), MetricBackends(slow))
    assert slow.most == sum(2 if probe.metric == "criteria" else 1 for probe in checklists)


def test_judge_prompts_returns_prompts_of_the_tasks_of_a_domain() -> None:
    def stems(*datasets: str, **parameters: object) -> set[str]:
        domain = Domain("d", "memorybench", datasets, "", parameters)
        return {prompt.name.partition("/")[2] for prompt in BENCH.judge_prompts(domain, "score.verdicts")}

    assert stems("locomo", "lexeval_qa", "writingprompts") == set()
    assert stems("locomo", "dialsim_friends") == {"dialsim_judge"}
    assert stems("writingbench_law") == {"criterion"}
    assert stems("writingbench_law", variants=["published_code"]) == {"criterion", "criteria"}
    assert stems("scitechnews") == {"merge_article"}
    assert stems("memorybench_sample") == {"checklist", "quality"}
    every = {prompt.name.partition("/")[2] for prompt in all_prompts(SCORERS)}
    assert stems(*DOMAIN.datasets, variants=["published_code"]) == every
    assert BENCH.judge_prompts(DOMAIN, "score.claims") == []


def by_key(verdicts) -> dict[tuple[str, str, str], float | None]:
    return {(row.probe_id, row.metric, row.variant): row.value for row in verdicts}


@pytest.mark.parametrize("variants", [[], ["published_code"]])
async def test_two_judges_give_their_mean_and_a_variant_each(probes, judge, encoders, variants) -> None:
    domain = replace(DOMAIN, parameters={"variants": variants})
    strict, kind = judge(quality={"score": 1}), judge(quality={"score": 4})
    one, other = [
        by_key(await BENCH.verdicts(domain, probes, replies(probes), MetricBackends(each, encoders)))
        for each in (strict, kind)
    ]
    judges = {"strict": strict, "kind": kind}
    both = by_key(
        await BENCH.verdicts(domain, probes, replies(probes), MetricBackends(strict, encoders, judges=judges))
    )
    assert {metric for _, metric, _ in both.keys() - one.keys()} == JUDGED == BENCH.judged_metrics
    for (probe_id, metric, variant), value in one.items():
        if metric not in JUDGED:
            assert both[probe_id, metric, variant] == value
            continue
        of_each = [judge_variant(variant, name) for name in judges]
        values = [value, other[probe_id, metric, variant]]
        assert [both[probe_id, metric, each] for each in of_each] == values
        mean = None if None in values else sum(values) / 2
        assert both[probe_id, metric, variant] == mean
