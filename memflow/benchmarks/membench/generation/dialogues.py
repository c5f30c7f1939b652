"""Generation of the messages of a planned trajectory by the simulator (paper, section 3.1 and appendix C).

The simulator rewords planned messages and invents the conversation between them. Required words are verified. Requests
are independent of each other. A trajectory without a valid wording is quarantined with the reason.
"""

import asyncio
import random
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memflow.benchmarks.membench.answers import (
    ToldMessage,
    ToldRound,
    messages_of,
    rounds_of,
    told_of,
    told_round_of,
)
from memflow.benchmarks.membench.generation.layout import StepSlot, TrajectoryLayout
from memflow.benchmarks.membench.generation.plans import PlannedMessage, PlannedSession, TrajectoryPlan
from memflow.benchmarks.membench.turns import Trajectory
from memflow.benchmarks.membench.wording import add_stamp, contains_word, prompt, quote_list, rerun_advice
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class _StepText:
    """The texts of a step, without stamps of place and time."""

    user: str = ""
    assistant: str = ""
    reason: str | None = None


async def word_trajectory(
    plan: TrajectoryPlan, layout: TrajectoryLayout, places: Sequence[str], seed: int, simulator: Chat
) -> Trajectory:
    """Return the trajectory with its texts. `places` lists the places from which the user can write."""
    said = await _SessionWriter(plan, simulator).said()
    where = _places(plan, layout, places, seed)
    steps = []
    for slot, place, step in zip(layout.slots, where, layout.trajectory.steps, strict=True):
        words, at = said[slot], step.sent_at or ""
        if words.reason is not None:
            steps.append(replace(step, reason=words.reason))
            continue
        answered = (
            add_stamp(words.assistant, place, at, plan.language) if step.assistant is not None else None
        )
        steps.append(
            replace(step, user=add_stamp(words.user, place, at, plan.language), assistant=answered),
        )
    reason = next((step.reason for step in steps if step.reason is not None), None)
    return replace(layout.trajectory, steps=tuple(steps), reason=reason)


def find_missing_words(plain: str, worded: str, required_words: Sequence[str]) -> str | None:
    """Return an error text with the required words that a wording lacks, or None if no word is missing."""
    said, before = worded.casefold(), plain.casefold()
    missing = [word for word in required_words if word.casefold() in before and word.casefold() not in said]
    return f"these words have to stand in it as they are: {quote_list(missing)}" if missing else None


def find_forbidden_words(worded: str, forbidden_words: Sequence[str]) -> str | None:
    """Return an error text with the forbidden words that a wording contains, or None without such words."""
    said = [word for word in forbidden_words if contains_word(worded, word)]
    return f"these words must not stand in it: {quote_list(said)}" if said else None


def _places(plan: TrajectoryPlan, layout: TrajectoryLayout, places: Sequence[str], seed: int) -> list[str]:
    """Return the place of each step: the same within a session, or a new one per message in observation."""
    rng = random.Random(seeded(seed, plan.trajectory_id, "places"))
    if plan.scene == "observation":
        return [rng.choice(places) for _ in layout.slots]
    sessions = [rng.choice(places) for _ in plan.sessions]
    return [sessions[slot.session] for slot in layout.slots]


@dataclass(frozen=True)
class _SessionWriter:
    plan: TrajectoryPlan
    simulator: Chat

    async def said(self) -> dict[StepSlot, _StepText]:
        """Return the texts of all steps, by slot."""
        asked: list[Awaitable[dict[StepSlot, _StepText]]] = []
        for number, session in enumerate(self.plan.sessions):
            asked += [
                self._word_message(StepSlot(number, at), message, session)
                for at, message in enumerate(session.messages)
            ]
            if session.rounds:
                asked.append(self._word_dialogue(number, session))
            asked += [
                self._word_fillers(number, at, session, fillers)
                for at, fillers in enumerate(session.fillers)
                if fillers
            ]
        return {slot: words for group in await asyncio.gather(*asked) for slot, words in group.items()}

    async def _word_message(
        self, slot: StepSlot, message: PlannedMessage, session: PlannedSession
    ) -> dict[StepSlot, _StepText]:
        fields: dict[str, Any] = {
            "said": message.user,
            "keeps": quote_list(message.required_words),
            "avoids": quote_list(session.forbidden_words),
        }

        def fault(worded: ToldRound | ToldMessage) -> str | None:
            if isinstance(worded, ToldMessage):
                return find_missing_words(
                    message.user, worded.text, message.required_words
                ) or find_forbidden_words(worded.text, session.forbidden_words)
            replied = find_missing_words(message.assistant or "", worded.assistant, message.required_words)
            both = f"{worded.user}\n{worded.assistant}"
            return (
                find_missing_words(message.user, worded.user, message.required_words)
                or replied
                or find_forbidden_words(both, session.forbidden_words)
            )

        output: type[ToldRound | ToldMessage]
        if self.plan.scene == "observation":
            stem, output = "told_alone", told_of(message.user, message.required_words)
        else:
            stem, output = (
                "told",
                told_round_of(message.user, message.assistant or "", message.required_words),
            )
        if stem == "told" and message.assistant is not None:
            stem, fields = "told_both", {**fields, "replied": message.assistant}
        narrowed = prompt(stem, output, self.plan.language)
        answer = await ask(self.simulator, narrowed, fields, check=fault)
        if answer.value is None:
            return {slot: _StepText(reason=answer.reason)}
        if isinstance(answer.value, ToldMessage):
            return {slot: _StepText(answer.value.text)}
        return {slot: _StepText(answer.value.user, answer.value.assistant)}

    async def _word_dialogue(self, number: int, session: PlannedSession) -> dict[StepSlot, _StepText]:
        if self.plan.scene == "observation":
            raise BadInput(
                f"trajectory {self.plan.trajectory_id} contains a dialogue, but the scene `observation` allows only "
                f"messages. {rerun_advice()}"
            )
        facts = "\n".join(f"- {name}: {value}" for name, value in session.context.items())
        fields = {"rounds": session.rounds, "topic": session.topic, "context": facts}
        return await self._word_rounds("dialogue", session.rounds, StepSlot(number, None), fields)

    async def _word_fillers(
        self, number: int, message: int, session: PlannedSession, fillers: int
    ) -> dict[StepSlot, _StepText]:
        plain = session.messages[message]
        said = [plain.user] if plain.assistant is None else [plain.user, plain.assistant]
        fields = {
            "topic": session.topic,
            "said": "\n".join(said),
            "avoids": quote_list(session.forbidden_words),
        }
        slot = StepSlot(number, message)
        if self.plan.scene == "participation":
            return await self._word_rounds("aftertalk", fillers, slot, {**fields, "rounds": fillers})
        narrowed = prompt("aftertalk_alone", messages_of(fillers), self.plan.language)
        answer = await ask(self.simulator, narrowed, {**fields, "messages": fillers})
        if answer.value is None:
            return _failed(slot, fillers, answer.reason)
        return {replace(slot, filler=at): _StepText(text) for at, text in enumerate(answer.value.messages)}

    async def _word_rounds(
        self, stem: str, count: int, slot: StepSlot, fields: Mapping[str, Any]
    ) -> dict[StepSlot, _StepText]:
        """Request conversation rounds for consecutive slots from the simulator and return their texts by slot."""
        narrowed = prompt(stem, rounds_of(count), self.plan.language)
        answer = await ask(self.simulator, narrowed, fields)
        if answer.value is None:
            return _failed(slot, count, answer.reason)
        return {
            replace(slot, filler=at): _StepText(each.user, each.assistant)
            for at, each in enumerate(answer.value.rounds)
        }


def _failed(slot: StepSlot, count: int, reason: str | None) -> dict[StepSlot, _StepText]:
    return {replace(slot, filler=at): _StepText(reason=reason) for at in range(count)}
