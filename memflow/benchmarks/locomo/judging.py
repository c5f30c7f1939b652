"""The judge contracts of J, the share of answers that a judge labels CORRECT: its prompt, and the gold answer it sees.

`j_2025`   generous: the contract of Mem0's evaluation of 2025, also used by Zep and Memobase
`j_2026`   more generous: the contract of Mem0's evaluation of 2026; of a gold answer in category 3, the part before the
           first semicolon
`j_strict` strict: everything that the gold answer states, and nothing that contradicts it; by memflow

Each contract is a metric. The prompts are in our words. The published code counts any other label than CORRECT as
wrong; here such a label has no value, and the variant `unlabeled_as_wrong` counts it as the published code does.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memflow.benchmarks.locomo.question import prompt
from memflow.chat.asking import ask
from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling, TokenBound
from memflow.records import Probe

UNLABELED = "unlabeled_as_wrong"
"""The variant in which an answer of the judge without a label counts as wrong."""
_BARE_OPTIONS = {"a": 0, "(a)": 0, "b": 1, "(b)": 1}


def _first_alternative(probe: Probe) -> str:
    """Return the gold answer, in category 3 up to the first semicolon."""
    return probe.gold.partition(";")[0].strip() or probe.gold if probe.category == "3" else probe.gold


@dataclass(frozen=True)
class Contract:
    """A judge contract: its metric, which is also the stem of its prompt, and the gold answer that the judge sees."""

    metric: str
    gold: Callable[[Probe], str] = lambda probe: probe.gold


CONTRACTS = {
    contract.metric: contract
    for contract in (Contract("j_2025"), Contract("j_2026", _first_alternative), Contract("j_strict"))
}


class Judgment(NamedTuple):
    """The value of a judgment: 1 for CORRECT and 0 for WRONG, or None with the reason.

    `unlabeled` is true if the judge answered, but without a label.
    """

    value: float | None
    reason: str | None = None
    completion: str | None = None
    unlabeled: bool = False


@dataclass
class RepeatedJudge:
    """A judge in one of several runs. The seeds of its requests differ, so that the ledger stores each run."""

    chat: Chat
    fingerprint: str
    sampling: Sampling
    bound: TokenBound
    scripted: bool

    @classmethod
    def for_run(cls, chat: Chat, run: int) -> "RepeatedJudge":
        """Return the judge in a run, from 1."""
        sampling = replace(chat.sampling, seed=(chat.sampling.seed or 0) + run)
        return cls(chat, chat.fingerprint, sampling, chat.bound, chat.scripted)

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the completion of `request`. Raises ChatError."""
        return await self.chat.complete(request)


async def judge_runs(
    contract: Contract, probe: Probe, answer: str, judge: Chat, runs: int
) -> Sequence[Judgment]:
    """Return the judgments of one judge on an answer, one per run. The first run is the judge as it is configured."""
    fields = {
        "question": probe.question,
        "gold": contract.gold(probe),
        "answer": chosen_text(answer, probe.options),
    }
    judges_of_runs: list[Chat] = [judge]
    judges_of_runs += [RepeatedJudge.for_run(judge, run) for run in range(1, runs)]
    return await asyncio.gather(*(_judge(contract, fields, run_judge) for run_judge in judges_of_runs))


async def _judge(contract: Contract, fields: dict[str, str], judge: Chat) -> Judgment:
    answer = await ask(judge, prompt(contract.metric), fields)
    if answer.value is None:
        # The judge answered, and its answer has no label; a cut answer may have lost it.
        unlabeled = answer.completion is not None and not answer.completion.cut
        return Judgment(None, answer.reason or "the judge gave no label", answer.digest, unlabeled)
    return Judgment(float(answer.value.label == "CORRECT"), None, answer.digest)


def chosen_text(answer: str, options: Sequence[str]) -> str:
    """Return the text of the chosen option if the answer is the letter of one, otherwise the answer."""
    index = _BARE_OPTIONS.get(answer.strip().rstrip(".").lower())
    return options[index] if options and index is not None else answer
