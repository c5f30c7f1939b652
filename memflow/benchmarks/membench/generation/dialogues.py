"""Generation of the messages of a planned trajectory by the simulator (paper, section 3.1 and appendix C).

The simulator rewords planned messages and invents the conversation between them. Required words are verified. Requests
are independent of each other. A trajectory without a valid wording is quarantined with the reason.
"""

import asyncio
import random
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memflow.benchmarks.membench.answers import Messages, ToldMessage, ToldRound, messages_of, rounds_of
from memflow.benchmarks.membench.generation.layout import StepSlot, lay_out
from memflow.benchmarks.membench.generation.plans import PlannedMessage, PlannedSession, TrajectoryPlan
from memflow.benchmarks.membench.turns import Step, Trajectory
from memflow.benchmarks.membench.wording import add_stamp, contains_word, format_time, prompt, quote_list
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class _StepText:
    """The texts of a step, without stamps of place and time."""

    user: str = ""
    assistant: str = ""
    reason: str | None = None


async def word_trajectory(
    plan: TrajectoryPlan, dataset: str, start: datetime, places: Sequence[str], seed: int, simulator: Chat
) -> Trajectory:
    """Return the trajectory with its texts. `places` lists the places from which the user can write."""
    texts = await _SessionWriter(plan, simulator).texts()
    slots = lay_out(plan, start, seed)
    where = _places(plan, [slot for slot, _ in slots], places, seed)
    steps = (
        _step(plan, slot, texts[slot], place, format_time(moment, plan.language))
        for (slot, moment), place in zip(slots, where, strict=True)
    )
    return plan.trajectory(dataset, tuple(steps))


def _step(plan: TrajectoryPlan, slot: StepSlot, text: _StepText, place: str, time: str) -> Step:
    """Return a step. Its texts have a stamp of place and time, and are empty if the step has a reason."""

    def stamped(words: str) -> str:
        return add_stamp(words, place, time, plan.language) if text.reason is None else ""

    planned = slot.message is not None and slot.filler is None
    return Step(
        user=stamped(text.user),
        assistant=stamped(text.assistant) if plan.scene == "participation" else None,
        session=slot.session,
        sent_at=time,
        exposes=plan.sessions[slot.session].messages[slot.message or 0].exposes if planned else None,
        reason=text.reason,
    )


def find_missing_words(plain: str, worded: str, required_words: Sequence[str]) -> str | None:
    """Return an error text with the required words that a wording lacks, or None if no word is missing."""
    said, before = worded.casefold(), plain.casefold()
    missing = [word for word in required_words if word.casefold() in before and word.casefold() not in said]
    return f"these words have to stand in it as they are: {quote_list(missing)}" if missing else None


def find_forbidden_words(worded: str, forbidden_words: Sequence[str]) -> str | None:
    """Return an error text with the forbidden words that a wording contains, or None without such words."""
    said = [word for word in forbidden_words if contains_word(worded, word)]
    return f"these words must not stand in it: {quote_list(said)}" if said else None


def _places(plan: TrajectoryPlan, slots: Sequence[StepSlot], places: Sequence[str], seed: int) -> list[str]:
    """Return the place of each step: the same within a session, or a new one per message in observation."""
    rng = random.Random(seeded(seed, plan.trajectory_id, "places"))
    if plan.scene == "observation":
        return [rng.choice(places) for _ in slots]
    sessions = [rng.choice(places) for _ in plan.sessions]
    return [sessions[slot.session] for slot in slots]


@dataclass(frozen=True)
class _SessionWriter:
    plan: TrajectoryPlan
    simulator: Chat

    async def texts(self) -> dict[StepSlot, _StepText]:
        """Return the texts of all steps, by slot."""
        asked: list[Awaitable[dict[StepSlot, _StepText]]] = []
        for number, session in enumerate(self.plan.sessions):
            asked += [
                self._word_message(StepSlot(number, at), message, session.forbidden_words)
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
        self, slot: StepSlot, message: PlannedMessage, forbidden_words: Sequence[str]
    ) -> dict[StepSlot, _StepText]:
        fields = {
            "said": message.user,
            "keeps": quote_list(message.required_words),
            "avoids": quote_list(forbidden_words),
        }
        stem = "told_alone" if self.plan.scene == "observation" else "told"
        if message.assistant is not None:
            stem, fields["replied"] = "told_both", message.assistant

        def fault(worded: ToldRound | ToldMessage) -> str | None:
            user, assistant = _texts_of(worded)
            return (
                find_missing_words(message.user, user, message.required_words)
                or find_missing_words(message.assistant or "", assistant, message.required_words)
                or find_forbidden_words(f"{user}\n{assistant}", forbidden_words)
            )

        answer = await ask(self.simulator, prompt(stem, language=self.plan.language), fields, check=fault)
        if answer.value is None:
            return {slot: _StepText(reason=answer.reason)}
        return {slot: _StepText(*_texts_of(answer.value))}

    async def _word_dialogue(self, number: int, session: PlannedSession) -> dict[StepSlot, _StepText]:
        facts = "\n".join(f"- {name}: {value}" for name, value in session.context.items())
        fields = {"rounds": session.rounds, "topic": session.topic, "context": facts}
        narrowed = prompt("dialogue", rounds_of(session.rounds), self.plan.language)
        return await self._word_steps(narrowed, session.rounds, StepSlot(number, None), fields)

    async def _word_fillers(
        self, number: int, message: int, session: PlannedSession, fillers: int
    ) -> dict[StepSlot, _StepText]:
        plain = session.messages[message]
        said = [plain.user] if plain.assistant is None else [plain.user, plain.assistant]
        fields: dict[str, Any] = {
            "topic": session.topic,
            "said": "\n".join(said),
            "avoids": quote_list(session.forbidden_words),
        }
        if self.plan.scene == "participation":
            narrowed = prompt("aftertalk", rounds_of(fillers), self.plan.language)
            fields["rounds"] = fillers
        else:
            narrowed = prompt("aftertalk_alone", messages_of(fillers), self.plan.language)
            fields["messages"] = fillers
        return await self._word_steps(narrowed, fillers, StepSlot(number, message), fields)

    async def _word_steps(
        self, narrowed: Prompt, count: int, slot: StepSlot, fields: Mapping[str, Any]
    ) -> dict[StepSlot, _StepText]:
        """Request the texts of consecutive slots from the simulator, and return them by slot."""
        answer = await ask(self.simulator, narrowed, fields)
        if answer.value is None:
            texts = [_StepText(reason=answer.reason)] * count
        elif isinstance(answer.value, Messages):
            texts = [_StepText(text) for text in answer.value.messages]
        else:
            texts = [_StepText(each.user, each.assistant) for each in answer.value.rounds]
        return {replace(slot, filler=at): text for at, text in enumerate(texts)}


def _texts_of(worded: ToldRound | ToldMessage) -> tuple[str, str]:
    """Return what the user says and what the assistant replies, which is empty in observation."""
    return (worded.text, "") if isinstance(worded, ToldMessage) else (worded.user, worded.assistant)
