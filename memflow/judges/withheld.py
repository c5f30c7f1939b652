"""Judges without the verdicts that do not count, because the judge failed its calibration (calibration.py)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling, TokenBound
from memflow.errors import ChatError
from memflow.records import Calibration


@dataclass
class WithheldJudge:
    """A judge without the verdicts that do not count: requests with the prompts in `reasons` fail, and are not sent."""

    chat: Chat
    reasons: Mapping[str, str]
    fingerprint: str
    sampling: Sampling
    bound: TokenBound
    scripted: bool

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the completion of `request`. Raises ChatError, also for a prompt whose verdicts do not count."""
        if (reason := self.reasons.get(request.prompt)) is not None:
            raise ChatError(reason)
        return await self.chat.complete(request)


def without_withheld(judges: Mapping[str, Chat], calibrations: Iterable[Calibration]) -> dict[str, Chat]:
    """Return the judges by name, each without the verdicts that its calibrations withhold.

    A metric stands on all its prompts: if one fails, the verdicts of all are withheld.
    """
    rows = [*calibrations]
    failed = {(row.judge, row.metric): row.reason for row in rows if row.passed is False and row.reason}
    reasons: dict[str, dict[str, str]] = {}
    for row in rows:
        if (reason := failed.get((row.judge, row.metric))) is not None:
            reasons.setdefault(row.judge, {})[row.prompt] = reason
    withheld: dict[str, Chat] = {
        name: WithheldJudge(chat, reasons[name], chat.fingerprint, chat.sampling, chat.bound, chat.scripted)
        for name, chat in judges.items()
        if name in reasons
    }
    return {**judges, **withheld}


def withheld_reason(judge: Chat | None, prompt: str) -> str | None:
    """Return why a judge's verdicts with a prompt do not count; None if they do.

    A verdict that needs no request, such as on an answer that equals the gold, asks this first: a score of these
    verdicts alone would be that of other questions.
    """
    return judge.reasons.get(prompt) if isinstance(judge, WithheldJudge) else None
