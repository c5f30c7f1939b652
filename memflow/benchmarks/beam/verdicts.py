"""Verdicts on replies: under each contract one of the answer and one of each item of its rubric, the variant `item_N`.

An item's verdict has the item and the judge's raw reply, which contains its reason. An order of events has its tau, F1,
precision and recall besides. The variant `by_rubric` is the mean of its items, which the published code computes, but
does not report.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memflow.benchmarks.beam.config import parse_config
from memflow.benchmarks.beam.judging import (
    CONTRACTS,
    Contract,
    ItemJudgment,
    OrderJudgment,
    judge_items,
    judge_order,
    value_of_items,
)
from memflow.benchmarks.beam.types import BY_RUBRIC, F1, ITEM, ORDERING, PRECISION, RECALL, TAU
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import ungradable_reason
from memflow.benchmarks.verdicts import (
    NO_JUDGE,
    MetricValue,
    judges_of,
    only_assistant,
    values_of_judges,
    verdict_rows,
)
from memflow.chat.requests import Chat
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import STANDARD


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts of all probes in order. Those of the first contract come first."""
    assistant, config = only_assistant(domain, replies), parse_config(domain)
    replies_by_probe = {reply.probe_id: reply for reply in replies}
    contracts = [CONTRACTS[name] for name in config.contracts]
    judges = judges_of(backends)

    async def values_of(probe: Probe) -> list[MetricValue]:
        reply = replies_by_probe.get(probe.probe_id)
        reason = ungradable_reason(probe, reply) or (None if judges else NO_JUDGE)
        if reason is not None or reply is None or reply.parsed is None:
            return list(_without_judgment(contracts, probe, reason or "there is no reply"))
        found = await asyncio.gather(
            *(_judged(contracts, probe, reply.parsed, judge) for judge in judges.values())
        )
        return values_of_judges(dict(zip(judges, found, strict=True)))

    return verdict_rows(domain, assistant, probes, await asyncio.gather(*map(values_of, probes)))


async def _judged(
    contracts: Sequence[Contract], probe: Probe, response: str, judge: Chat
) -> list[MetricValue]:
    """Return the values of one judge: of the order of events, and under each contract."""
    rubric, is_ordered = json.loads(probe.gold), probe.category == ORDERING
    judged_items = asyncio.gather(
        *(
            judge_items(contract, probe.question, rubric, response, judge, ordered=is_ordered)
            for contract in contracts
        )
    )
    order = await judge_order(rubric, response, judge) if is_ordered else None
    found: list[MetricValue] = []
    for contract, items in zip(contracts, await judged_items, strict=True):
        found += _contract_values(contract, rubric, items, order)
    return [*found, *(_order_values(order) if order is not None else ())]


def _contract_values(
    contract: Contract, rubric: Sequence[str], items: Sequence[ItemJudgment], order: OrderJudgment | None
) -> Iterator[MetricValue]:
    metric, of_rubric = contract.metric, value_of_items(items)
    if order is None:
        yield MetricValue(metric, *of_rubric)
    else:
        reason = order.reason
        value = None if reason or order.values is None else contract.order(order.values)
        yield MetricValue(metric, value, reason)
        yield MetricValue(metric, *of_rubric, BY_RUBRIC)
    for number, (text, item) in enumerate(zip(rubric, items, strict=True), 1):
        variant = f"{ITEM}{number}"
        yield MetricValue(metric, item.value, item.reason, variant, item.completion, text, item.reply)


def _order_values(order: OrderJudgment) -> Iterator[MetricValue]:
    values = order.values
    tau = None if values is None or order.reason else values.tau
    aligned = json.dumps(list(order.aligned), ensure_ascii=False) if order.aligned else None
    yield MetricValue(TAU, tau, order.reason, item=aligned)
    reason = order.reason if values is None else None
    yield MetricValue(F1, values and values.f1, reason)
    yield MetricValue(PRECISION, values and values.precision, reason)
    yield MetricValue(RECALL, values and values.recall, reason)


def _without_judgment(contracts: Sequence[Contract], probe: Probe, reason: str) -> Iterator[MetricValue]:
    rubric = json.loads(probe.gold)
    items = [ItemJudgment(None, reason)] * len(rubric)
    order = OrderJudgment(None, (), reason) if probe.category == ORDERING else None
    for contract in contracts:
        if not rubric:
            yield MetricValue(contract.metric, None, reason)
            continue
        for value in _contract_values(contract, rubric, items, order):
            yield replace(value, reason=reason) if value.variant in (STANDARD, BY_RUBRIC) else value
    if order is not None:
        yield from _order_values(order)
