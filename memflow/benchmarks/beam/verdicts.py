"""Verdicts on replies: under each contract one of the answer and one of each item of its rubric, the variant `item_N`.

An item's verdict has the item and the judge's raw reply, which contains its reason. An order of events has its tau, F1,
precision and recall besides. The variant `by_rubric` is the mean of its items, which the published code computes, but
does not report.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
from memflow.benchmarks.multiple_choice import unanswered
from memflow.benchmarks.verdicts import only_assistant, verdict_row
from memflow.chat.requests import Chat
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import STANDARD, JudgedValue, judge_variant, mean_of_judges, rows_of_judges

NO_JUDGE = "no judge is configured; set its model under `roles` in memflow.toml"


@dataclass(frozen=True)
class _Value:
    """The value of a metric and variant, or None with the reason; of an item, with its text and the judge's reply."""

    metric: str
    variant: str
    value: float | None
    reason: str | None = None
    completion: str | None = None
    item: str | None = None
    judge_reply: str | None = None


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts of all probes in order. Those of the first contract come first."""
    assistant, config = only_assistant(domain, replies), parse_config(domain)
    replies_by_probe = {reply.probe_id: reply for reply in replies}
    contracts = [CONTRACTS[name] for name in config.contracts]
    judges = dict(backends.judges) or ({"": backends.judge} if backends.judge else {})

    async def values_of(probe: Probe) -> list[_Value]:
        reply = replies_by_probe.get(probe.probe_id)
        reason = unanswered(probe, reply) or (None if judges else NO_JUDGE)
        if reason is not None or reply is None or reply.parsed is None:
            return list(_without_judgment(contracts, probe, reason or "there is no reply"))
        found = await asyncio.gather(
            *(_judged(contracts, probe, reply.parsed, judge) for judge in judges.values())
        )
        return rows_of_judges(
            dict(zip(judges, found, strict=True)),
            is_judged=lambda value: True,
            combine=_mean,
            of_judge=lambda value, judge: replace(value, variant=judge_variant(value.variant, judge)),
        )

    values = await asyncio.gather(*map(values_of, probes))
    return [
        verdict_row(
            domain, assistant, probe, value.metric, value.value, value.reason, variant=value.variant,
            completion=value.completion, item=value.item, judge_reply=value.judge_reply,
        )
        for probe, probe_values in zip(probes, values, strict=True)
        for value in probe_values
    ]  # fmt: skip


def _mean(values: Mapping[str, _Value]) -> _Value:
    of_judges = {name: JudgedValue(value.value, value.reason) for name, value in values.items()}
    value, reason = mean_of_judges(of_judges)
    first = next(iter(values.values()))
    return replace(first, value=value, reason=reason, completion=None, judge_reply=None)


async def _judged(contracts: Sequence[Contract], probe: Probe, response: str, judge: Chat) -> list[_Value]:
    """Return the values of one judge: of the order of events, and under each contract."""
    rubric, is_ordered = json.loads(probe.gold), probe.category == ORDERING
    judged_items = asyncio.gather(
        *(
            judge_items(contract, probe.question, rubric, response, judge, ordered=is_ordered)
            for contract in contracts
        )
    )
    order = await judge_order(rubric, response, judge) if is_ordered else None
    found: list[_Value] = []
    for contract, items in zip(contracts, await judged_items, strict=True):
        found += _contract_values(contract, rubric, items, order)
    return [*found, *(_order_values(order) if order is not None else ())]


def _contract_values(
    contract: Contract, rubric: Sequence[str], items: Sequence[ItemJudgment], order: OrderJudgment | None
) -> Iterator[_Value]:
    metric, of_rubric = contract.metric, value_of_items(items)
    if order is None:
        yield _Value(metric, STANDARD, *of_rubric)
    else:
        reason = order.reason
        value = None if reason or order.values is None else contract.order(order.values)
        yield _Value(metric, STANDARD, value, reason)
        yield _Value(metric, BY_RUBRIC, *of_rubric)
    for number, (text, item) in enumerate(zip(rubric, items, strict=True), 1):
        yield _Value(metric, f"{ITEM}{number}", item.value, item.reason, item.completion, text, item.reply)


def _order_values(order: OrderJudgment) -> Iterator[_Value]:
    values = order.values
    tau = None if values is None or order.reason else values.tau
    aligned = json.dumps(list(order.aligned), ensure_ascii=False) if order.aligned else None
    yield _Value(TAU, STANDARD, tau, order.reason, item=aligned)
    reason = order.reason if values is None else None
    for metric, value in ((F1, values and values.f1), (PRECISION, values and values.precision)):
        yield _Value(metric, STANDARD, value, reason)
    yield _Value(RECALL, STANDARD, values and values.recall, reason)


def _without_judgment(contracts: Sequence[Contract], probe: Probe, reason: str) -> Iterator[_Value]:
    rubric = json.loads(probe.gold)
    items = [ItemJudgment(None, reason)] * len(rubric)
    order = OrderJudgment(None, (), reason) if probe.category == ORDERING else None
    for contract in contracts:
        if not rubric:
            yield _Value(contract.metric, STANDARD, None, reason)
            continue
        for value in _contract_values(contract, rubric, items, order):
            yield replace(value, reason=reason) if value.variant in (STANDARD, BY_RUBRIC) else value
    if order is not None:
        yield from _order_values(order)
