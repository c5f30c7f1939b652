"""Memory factual recall: the share of a period's new states in the memory at the period's end (paper, appendix E).

A claim is a state variable and its value in words: `sewing level: first steps`. The judge gets numbered claims and the
memory state at the end of the period, including its buffer. For each claim, the judge decides whether the memory
supports it. A claim that no message of its period can expose is quarantined. An empty memory scores 0 without a
request.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from memflow.benchmarks.amemgym.answers import findings_of
from memflow.benchmarks.amemgym.states import exposed_values, histories
from memflow.benchmarks.amemgym.wording import number_options, prompt
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.step_values import MemorySnapshots
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.judges.cases import JudgeCase, load_cases
from memflow.judges.withheld import withheld_reason
from memflow.records import Change, Claim, Turn
from memflow.tokens import estimate


def make_claims(domain: Domain, assistant: str, states: States, turns: Sequence[Turn]) -> list[Claim]:
    """Return a claim for every value that a state takes in a period, by user, period and variable."""
    exposing_turns: dict[tuple[str, int, str], Turn] = {}
    turns_with_unknown_values: dict[tuple[str, int], Turn] = {}
    for turn in turns:
        if turn.position == 0 and turn.exposes is None:
            turns_with_unknown_values[turn.episode_id, turn.checkpoint] = turn
        for name in exposed_values(turn):
            exposing_turns[turn.episode_id, turn.checkpoint, name] = turn

    def claim(user_id: str, period: int, change: Change) -> Claim:
        """Return the claim on a change, with a reason if no valid message of its period can state the value."""
        unknown_turn = turns_with_unknown_values.get((user_id, period))
        turn = exposing_turns.get((user_id, period, change.variable), unknown_turn)
        return Claim(
            domain=domain.name,
            assistant=assistant,
            claim_id=f"{user_id}/p{period}/{change.variable}",
            episode_id=user_id,
            checkpoint=period,
            text=f"{change.variable}: {change.value}".replace("_", " "),
            reason=_missing_statement(turn),
        )

    claims = []
    for user_id, history in histories(states).items():
        for period, changes in enumerate(history.changes):
            claims += [claim(user_id, period, change) for change in changes]
    return claims


def _missing_statement(turn: Turn | None) -> str | None:
    """Return why no valid message states a value, given the message that should state it; None if it does."""
    if turn is None:
        return "no message of the period tells it"
    return None if turn.reason is None else f"the message {turn.message_id}, which tells it, is quarantined"


def judge_cases() -> Sequence[JudgeCase]:
    """Return the case of the judge of claims."""
    return load_cases("memflow.benchmarks.amemgym", {"claims": prompt("claims", findings_of(1))})


async def judge_claims(claims: Sequence[Claim], texts: MemorySnapshots, judge: Chat) -> list[Claim]:
    """Return the claims with their values. The judge gets one request for each user and period."""
    groups: dict[tuple[str, int], list[Claim]] = {}
    for claim in claims:
        if claim.reason is None:
            groups.setdefault((claim.episode_id, claim.checkpoint), []).append(claim)
    judged_groups = await asyncio.gather(
        *(_judge_group(group, texts.get(key, ""), judge) for key, group in groups.items())
    )
    judged_claims = {claim.claim_id: claim for group in judged_groups for claim in group}
    return [judged_claims.get(claim.claim_id, claim) for claim in claims]


async def _judge_group(claims: Sequence[Claim], memory_text: str, judge: Chat) -> list[Claim]:
    """Return the claims of one user and period with the judge's values, or with the reason why they have none."""
    memory_tokens = estimate(memory_text)
    if (reason := withheld_reason(judge, prompt("claims").name)) is not None:
        return [replace(claim, reason=reason, held_tokens=memory_tokens) for claim in claims]
    if not memory_text:
        return [replace(claim, value=0.0, held_tokens=memory_tokens) for claim in claims]
    fields = {"held": memory_text, "claims": number_options([claim.text for claim in claims])}
    answer = await ask(judge, prompt("claims", findings_of(len(claims))), fields)
    completion = (answer.completion.digest or None) if answer.completion else None
    requested_claims = [
        replace(claim, held_tokens=memory_tokens, completion=completion, model=judge.fingerprint)
        for claim in claims
    ]
    if answer.value is None:
        return [replace(claim, reason=answer.reason or "no answer") for claim in requested_claims]
    return [
        replace(claim, value=1.0 if supported == "yes" else 0.0)
        for claim, supported in zip(requested_claims, answer.value.supported, strict=True)
    ]
