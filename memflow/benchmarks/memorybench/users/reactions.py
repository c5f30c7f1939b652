"""Reactions of simulated users to an answer: satisfaction, critique, and the end of the dialogue (A.2.1).

For LoCoMo and DialSim, a metric determines satisfaction and selects fixed texts. For other tasks, the simulator plays
the user and, in a separate request, scores the answer. If the simulator fails, the reaction has a reason; the published
code then assumes a satisfied user.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.scorers.judged import AccuracyScorer, accurate
from memflow.benchmarks.memorybench.scorers.scorer import PACKAGE as JUDGING
from memflow.benchmarks.memorybench.scorers.scorer import ScoringContext
from memflow.benchmarks.memorybench.tasks.catalog import ACCURACY, LOCOMO_F1
from memflow.benchmarks.memorybench.users.answers import Critique
from memflow.benchmarks.memorybench.users.known_gold import PACKAGE, scoring_standards, user_knowledge
from memflow.benchmarks.memorybench.users.personas import persona
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt, all_prompts, load
from memflow.chat.requests import Chat, ChatMessage
from memflow.metrics.backends import MetricBackends
from memflow.metrics.text import locomo_f1
from memflow.records import Probe

RIGHT_F1 = 0.5
"""Lowest F1 of a right answer; the published code excludes it."""
S_WRONG, S_RIGHT = 3, 9
_SPEAKERS = {
    "en": {"user": "User: ", "assistant": "Assistant: "},
    "zh": {"user": "用户：", "assistant": "助手："},
}
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Reaction:
    """A user's reaction to an answer, or the reason why the reaction is unknown.

    `score` is the value of the metric, if a metric determines satisfaction. `satisfaction` is 1 to 10. `critique` is
    None if the user ends without a message. `ended` means that the user wants no further answer.
    """

    score: float | None = None
    satisfaction: int | None = None
    critique: str | None = None
    ended: bool = False
    reason: str | None = None


def satisfaction(f1: float) -> int:
    """Return the satisfaction, 1 to 10, with an answer that has this F1.

    The paper states 0.9 -> 10, 0.8 -> 9, 0.5 -> 6. memflow extends this line: 0.7 -> 8, 0.3 -> 4, 0 -> 1.
    """
    return min(10, int(10 * f1 + _ROUNDING) + 1)


async def react(domain: Domain, probe: Probe, history: Sequence[ChatMessage], simulator: Chat) -> Reaction:
    """Return the reaction of the user of `probe` to the last message of `history`.

    `history` has the messages of both sides from the question on, without recall. The simulator decides about DialSim
    answers that differ from the gold.
    """
    if probe.metric == LOCOMO_F1:
        score = locomo_f1(history[-1].content, probe.gold, probe.category or "")
        standard = parameters_of(domain).right == "standard"
        right = score >= RIGHT_F1 - _ROUNDING if standard else score > RIGHT_F1 + _ROUNDING
        return _metric_reaction(score, satisfaction(score), right)
    if probe.metric == ACCURACY:
        marked = await accurate(probe, history[-1].content, ScoringContext(MetricBackends(simulator)))
        if marked.value is None:
            return _failed_reaction(probe, marked.reason)
        return _metric_reaction(marked.value, S_RIGHT if marked.value else S_WRONG, marked.value > 0)
    return await _simulated_reaction(probe, history, simulator)


def prompts() -> list[Prompt]:
    """Return all prompts that reactions use: requests to the simulator, gold context, and fixed texts."""
    judged = [load(JUDGING, stem) for stem in AccuracyScorer.stems]
    return [*judged, *all_prompts(PACKAGE)]


def _metric_reaction(score: float, satisfied: int, right: bool) -> Reaction:
    words = load(PACKAGE, "right" if right else "wrong").render({})[0].content
    return Reaction(score, satisfied, words, right)


async def _simulated_reaction(probe: Probe, history: Sequence[ChatMessage], simulator: Chat) -> Reaction:
    said_by = _SPEAKERS[probe.language]
    conversation = "\n".join(f"{said_by[message.role]}{message.content}" for message in history)
    language = "_zh" if probe.language == "zh" else ""
    user = persona(probe.dataset, probe.language).fields()
    reacted, scored = await asyncio.gather(
        ask(
            simulator,
            load(PACKAGE, f"feedback{language}"),
            {**user, "conversation": conversation, "evaluation": user_knowledge(probe)},
        ),
        ask(
            simulator,
            load(PACKAGE, f"satisfaction{language}"),
            {"conversation": conversation, "evaluation": scoring_standards(probe)},
        ),
    )
    if reacted.value is None or scored.value is None:
        return _failed_reaction(probe, reacted.reason, scored.reason)
    critique: Critique = reacted.value
    return Reaction(
        satisfaction=scored.value.score, critique=critique.response, ended=critique.behaviour == "end"
    )


def _failed_reaction(probe: Probe, *reasons: str | None) -> Reaction:
    return Reaction(
        reason=f"no feedback on {probe.probe_id}: {'; '.join(reason for reason in reasons if reason)}"
    )
