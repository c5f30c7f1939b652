"""The judge contracts, and the judgment of an answer by one judge: a value for each item of the rubric.

`published`  bug for bug: the judge sees no question, though it is to enforce that the answer addresses it; half points
             count 0; of an order of events, tau counts, and its rubric does not
`corrected`  the judge sees the question; half points count; an order of events has tau x F1

Each contract is a metric of its own. The prompts are in our words. A reply out of form is asked for again under
`corrected` alone, as the published code takes the first reply.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memflow.benchmarks.beam.answers import graded_score, is_same_event, published_float, published_score
from memflow.benchmarks.beam.ordering import OrderValues, align, order_values, response_lines
from memflow.benchmarks.beam.question import prompt
from memflow.benchmarks.beam.types import CORRECTED, PUBLISHED
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.scoring.judges import JudgedValue

NO_ORDER = "the reference has one event, so its order is undefined (NaN in the published code)"
SAME_EVENT = "judge_same_event"


@dataclass(frozen=True)
class Contract:
    """A judge contract: its metric, its prompt's stem, and how scores of items and of an order of events are read."""

    metric: str
    stem: str
    sees_question: bool
    score: Callable[[str], float]
    ordered_score: Callable[[str], float]
    order: Callable[[OrderValues], float]
    attempts: int


CONTRACTS = {
    "published": Contract(
        PUBLISHED,
        "judge_published",
        False,
        published_score,
        published_float,
        lambda values: values.tau,
        attempts=1,
    ),
    "corrected": Contract(
        CORRECTED,
        "judge_corrected",
        True,
        graded_score,
        graded_score,
        lambda values: values.product,
        attempts=3,
    ),
}


class ItemJudgment(NamedTuple):
    """A judge's value for an item of a rubric, or None with the reason, with its raw reply."""

    value: float | None
    reason: str | None = None
    reply: str | None = None
    completion: str | None = None


class OrderJudgment(NamedTuple):
    """The values of an order of events with the aligned lines, or None with the reason."""

    values: OrderValues | None
    aligned: Sequence[str] = ()
    reason: str | None = None


def judge_prompts(contracts: Sequence[str]) -> list[Prompt]:
    """Return the judge's prompts of these contracts."""
    return [prompt(stem) for stem in (*(CONTRACTS[name].stem for name in contracts), SAME_EVENT)]


async def judge_items(
    contract: Contract, question: str, rubric: Sequence[str], response: str, judge: Chat, *, ordered: bool
) -> list[ItemJudgment]:
    """Return the judgment of each item of a rubric, in order."""
    read = contract.ordered_score if ordered else contract.score

    async def judgment(item: str) -> ItemJudgment:
        fields = {"rubric": item, "response": response}
        if contract.sees_question:
            fields["question"] = question
        answer = await ask(
            judge, prompt(contract.stem), fields, check=_fault(read), attempts=contract.attempts
        )
        reply, digest = answer.completion.text if answer.completion else None, answer.digest
        if answer.value is None:
            fault = _fault(read)(reply) if reply and reply.strip() else None
            return ItemJudgment(None, fault or answer.reason or "the judge gave no answer", reply, digest)
        return ItemJudgment(float(read(answer.value)), None, reply, digest)

    return list(await asyncio.gather(*map(judgment, rubric)))


def _fault(read: Callable[[str], float]) -> Callable[[str], str | None]:
    """Return a function to the reason why a reply has no score, or None."""

    def fault(reply: str) -> str | None:
        try:
            value = read(reply)
        except ValueError as wrong:
            return f"the judge's reply is out of form: {wrong}"
        return None if 0 <= value <= 1 else f"the judge's score {value:g} is not from 0 to 1"

    return fault


async def judge_order(rubric: Sequence[str], response: str, judge: Chat) -> OrderJudgment:
    """Return the values of the order of a response's lines. The judge is asked line by line, as published."""
    failures: list[str] = []

    async def same(event: str, line: str) -> bool:
        if failures:
            return False
        answer = await ask(judge, prompt(SAME_EVENT), {"event": event, "line": line})
        if answer.value is None:
            failures.append(answer.reason or "the judge gave no answer")
            return False
        return is_same_event(answer.value)

    aligned = await align(rubric, response_lines(response), same)
    if failures:
        return OrderJudgment(None, (), failures[0])
    values = order_values(rubric, aligned)
    return OrderJudgment(values, aligned, NO_ORDER if math.isnan(values.tau) else None)


def value_of_items(items: Sequence[ItemJudgment]) -> JudgedValue:
    """Return the mean of the items, or the reasons why items have no value: the published code fails there, too."""
    values = [item.value for item in items if item.value is not None]
    if len(values) == len(items):
        return JudgedValue(sum(values) / len(values))
    faults = [f"item {number}: {item.reason}" for number, item in enumerate(items, 1) if item.value is None]
    return JudgedValue(None, "; ".join(faults))
