"""What a simulated user makes of an answer: how satisfied they are, what they say, and whether they end it (A.2.1).

Path 1: where a metric settles what is right (LoCoMo, DialSim), satisfaction follows from the score and the words are
fixed. Path 2: elsewhere the simulator plays the user and, asked apart, scores; it alone is shown what is right. What
the user presses is presses.py's. A simulator that fails is a reason: never a satisfied user, as in the published code.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.scorers import accuracy
from memflow.benchmarks.memorybench.scorers.metric import PACKAGE as JUDGING
from memflow.benchmarks.memorybench.scorers.metric import Means
from memflow.benchmarks.memorybench.tasks.catalogue import ACCURACY, LOCOMO_F1
from memflow.benchmarks.memorybench.users.answers import Critique
from memflow.benchmarks.memorybench.users.contexts import PACKAGE, evaluation, standards
from memflow.benchmarks.memorybench.users.personas import persona
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt, all_prompts, load
from memflow.chat.requests import Chat, ChatMessage
from memflow.metrics.backends import MetricBackends
from memflow.metrics.text import locomo_f1
from memflow.records import Probe

MEASURED = (LOCOMO_F1, ACCURACY)
"""The metrics of path 1."""
HALF = 0.5
"""F1 from which an answer counts as right; in the published code, above which."""
S_WRONG, S_RIGHT = 3, 9
_SPEAKERS = {
    "en": {"user": "User: ", "assistant": "Assistant: "},
    "zh": {"user": "用户：", "assistant": "助手："},
}
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Reaction:
    """What the user made of an answer, or why that is not known.

    `score` is the answer's under the metric, of path 1; `satisfaction` goes from 1 to 10; `critique` is what the user
    says, null where they end without a word; `ended` is whether they want no further answer.
    """

    score: float | None = None
    satisfaction: int | None = None
    critique: str | None = None
    ended: bool = False
    reason: str | None = None


def satisfaction(f1: float) -> int:
    """Satisfaction with an answer of that F1, 1 to 10.

    The paper gives three points (0.9 is 10, 0.8 is 9, 0.5 is 6) and leaves the rest open. They lie on one
    line, a point for each tenth, and that line is our choice for the rest: 0.7 is 8, 0.3 is 4, nothing
    right is 1.
    """
    return min(10, int(10 * f1 + _ROUNDING) + 1)


async def react(
    domain: Domain, probe: Probe, history: Sequence[ChatMessage], simulator: Chat, judge: Chat | None = None
) -> Reaction:
    """What the user of `probe` makes of the last message of `history`, the assistant's answer.

    `history` is what the two said, the user's question first, and nothing that was recalled for it. `judge` decides
    where DialSim's words differ; the simulator does where there is none. Raises BadInput for a data set without a
    persona.
    """
    if probe.metric == LOCOMO_F1:
        score = locomo_f1(history[-1].content, probe.gold, probe.category or "")
        standard = parameters_of(domain).right == "standard"
        right = score >= HALF - _ROUNDING if standard else score > HALF + _ROUNDING
        return _measured(score, satisfaction(score), right)
    if probe.metric == ACCURACY:
        marked = await accuracy.accurate(
            probe, history[-1].content, Means(MetricBackends(judge or simulator))
        )
        if marked.value is None:
            return _unknown(probe, marked.reason)
        return _measured(marked.value, S_RIGHT if marked.value else S_WRONG, marked.value > 0)
    return await _simulated(probe, history, simulator)


def prompts() -> list[Prompt]:
    """Every prompt that has a part in a reaction, by name."""
    judged = [load(JUDGING, stem) for stem in accuracy.prompts(published=False)]
    return [*judged, *all_prompts(PACKAGE)]


def _measured(score: float, satisfied: int, right: bool) -> Reaction:
    words = load(PACKAGE, "right" if right else "wrong").render({})[0].content
    return Reaction(score, satisfied, words, right)


async def _simulated(probe: Probe, history: Sequence[ChatMessage], simulator: Chat) -> Reaction:
    said_by = _SPEAKERS[probe.language]
    conversation = "\n".join(f"{said_by[message.role]}{message.content}" for message in history)
    language = "_zh" if probe.language == "zh" else ""
    user = persona(probe.dataset, probe.language).fields()
    reacted, scored = await asyncio.gather(
        ask(
            simulator,
            load(PACKAGE, f"feedback{language}"),
            {**user, "conversation": conversation, "evaluation": evaluation(probe)},
        ),
        ask(
            simulator,
            load(PACKAGE, f"satisfaction{language}"),
            {"conversation": conversation, "evaluation": standards(probe)},
        ),
    )
    if reacted.value is None or scored.value is None:
        return _unknown(probe, reacted.reason, scored.reason)
    critique: Critique = reacted.value
    return Reaction(
        satisfaction=scored.value.score, critique=critique.response, ended=critique.behaviour == "end"
    )


def _unknown(probe: Probe, *reasons: str | None) -> Reaction:
    return Reaction(
        reason=f"no feedback on {probe.probe_id}: {'; '.join(reason for reason in reasons if reason)}"
    )
