"""Verdicts on replies: J under each contract, judge and run, LoCoMo's F1, and the F1 and BLEU-1 of Mem0's evaluation.

The value of a contract is the mean over judges and runs. With several runs, each run is the variant `run_N`, from 1.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from itertools import chain

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.locomo.config import parse_config
from memflow.benchmarks.locomo.judging import CONTRACTS, UNLABELED, Contract, Judgment, judge_runs
from memflow.benchmarks.locomo.metrics import BLEU_1, SET_F1
from memflow.benchmarks.locomo.probes import ADVERSARIAL_CATEGORY
from memflow.benchmarks.memorybench.tasks.catalog import LOCOMO_F1
from memflow.benchmarks.multiple_choice import ungradable_reason
from memflow.benchmarks.verdicts import (
    NO_JUDGE,
    MetricValue,
    judges_of,
    only_assistant,
    values_of_judges,
    verdict_rows,
)
from memflow.metrics.backends import MetricBackends
from memflow.metrics.overlap import bleu_1, set_f1
from memflow.metrics.text import locomo_f1
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import STANDARD

WORD_METRICS = (LOCOMO_F1, SET_F1, BLEU_1)


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts of all probes in order. The verdicts of the first contract come first."""
    assistant = only_assistant(domain, replies)
    config = parse_config(domain)
    replies_by_probe = {reply.probe_id: reply for reply in replies}
    contracts = [CONTRACTS[name] for name in config.contracts]
    judges = judges_of(backends)

    async def values_of(probe: Probe) -> list[MetricValue]:
        """Return the values of one probe under every contract, run and word metric."""
        reply = replies_by_probe.get(probe.probe_id)
        if (reason := ungradable_reason(probe, reply)) is not None:
            of_words = (MetricValue(metric, None, reason) for metric in WORD_METRICS)
            return [*_without_judgment(contracts, config.judge_runs, reason), *of_words]
        assert reply is not None and reply.parsed is not None
        answer = reply.parsed
        if not judges:
            return [*_without_judgment(contracts, config.judge_runs, NO_JUDGE), *word_values(probe, answer)]

        async def judge_under(contract: Contract) -> list[MetricValue]:
            judgments = await asyncio.gather(
                *(judge_runs(contract, probe, answer, judge, config.judge_runs) for judge in judges.values())
            )
            values = [_judge_values(contract.metric, runs) for runs in judgments]
            return values_of_judges(dict(zip(judges, values, strict=True)))

        values_by_contract = await asyncio.gather(*map(judge_under, contracts))
        return [*chain.from_iterable(values_by_contract), *word_values(probe, answer)]

    return verdict_rows(domain, assistant, probes, await asyncio.gather(*map(values_of, probes)))


def word_values(probe: Probe, answer: str) -> list[MetricValue]:
    """Return the values of the metrics of word overlap."""
    f1 = locomo_f1(answer, _f1_gold(probe), probe.category or "")
    return [
        MetricValue(LOCOMO_F1, f1),
        MetricValue(SET_F1, set_f1(answer, probe.gold)),
        MetricValue(BLEU_1, bleu_1(answer, probe.gold)),
    ]


def _f1_gold(probe: Probe) -> str:
    """Return the gold for LoCoMo's F1, which needs the options of an adversarial question."""
    if probe.category != str(ADVERSARIAL_CATEGORY):
        return probe.gold
    return json.dumps(dict(zip("ab", probe.options or ("", ""), strict=True)))


def _variants(runs: int) -> Iterator[str]:
    """Yield the variants of a contract's metric, in the order of its values."""
    yield STANDARD
    yield UNLABELED
    if runs > 1:
        yield from (f"run_{run}" for run in range(1, runs + 1))


def _without_judgment(contracts: Sequence[Contract], runs: int, reason: str) -> list[MetricValue]:
    return [
        MetricValue(contract.metric, None, reason, variant)
        for contract in contracts
        for variant in _variants(runs)
    ]


def _judge_values(metric: str, runs: Sequence[Judgment]) -> list[MetricValue]:
    """Return the values of one judge: the mean over its runs, with and without unlabeled answers, and each run."""
    unlabeled_as_wrong = [
        judgment._replace(value=0.0, reason=None) if judgment.unlabeled else judgment for judgment in runs
    ]
    values = [_mean_value(metric, STANDARD, runs), _mean_value(metric, UNLABELED, unlabeled_as_wrong)]
    if len(runs) > 1:
        values += [
            MetricValue(metric, judgment.value, judgment.reason, f"run_{number}", judgment.completion)
            for number, judgment in enumerate(runs, 1)
        ]
    return values


def _mean_value(metric: str, variant: str, runs: Sequence[Judgment]) -> MetricValue:
    """Return the mean over runs, without a value if a run has none; a single run also gives the completion."""
    completion = runs[0].completion if len(runs) == 1 else None
    values = [judgment.value for judgment in runs if judgment.value is not None]
    if len(values) < len(runs):
        reason = next(judgment.reason for judgment in runs if judgment.value is None)
        return MetricValue(metric, None, reason, variant, completion)
    return MetricValue(metric, sum(values) / len(values), None, variant, completion)
