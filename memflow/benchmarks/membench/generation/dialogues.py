"""A plan in words: the trajectory that a user tells, worded by the simulator (paper, section 3.1 and appendix C).

Beats are put in everyday speech, and what has to stay in them is looked for in the wording. The talk around them is a
conversation that the simulator leads with itself, or goes on about each beat. No request waits for another's answer.
A plan that cannot be worded is a trajectory with its reason.
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
from memflow.benchmarks.membench.generation.layout import Frame, Slot
from memflow.benchmarks.membench.generation.plans import Beat, Plan, Talk
from memflow.benchmarks.membench.turns import Trajectory
from memflow.benchmarks.membench.wording import listed, prompt, says, stamped
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class _Said:
    """The words of a step, without place and time."""

    user: str = ""
    assistant: str = ""
    reason: str | None = None


async def tell(plan: Plan, frame: Frame, places: Sequence[str], seed: int, simulator: Chat) -> Trajectory:
    """The trajectory of `frame` with its words. `places` are those that the user speaks from."""
    said = await _Teller(plan, simulator).said()
    where = _places(plan, frame, places, seed)
    steps = []
    for slot, place, step in zip(frame.slots, where, frame.trajectory.steps, strict=True):
        words, at = said[slot], step.sent_at or ""
        if words.reason is not None:
            steps.append(replace(step, reason=words.reason))
            continue
        answered = stamped(words.assistant, place, at, plan.language) if step.assistant is not None else None
        steps.append(
            replace(step, user=stamped(words.user, place, at, plan.language), assistant=answered),
        )
    reason = next((step.reason for step in steps if step.reason is not None), None)
    return replace(frame.trajectory, steps=tuple(steps), reason=reason)


def lost(plain: str, worded: str, keeps: Sequence[str]) -> str | None:
    """What is wrong with a wording that has lost words which its plain sentence had; None where it kept them."""
    said, before = worded.casefold(), plain.casefold()
    missing = [word for word in keeps if word.casefold() in before and word.casefold() not in said]
    return f"these words have to stand in it as they are: {listed(missing)}" if missing else None


def named(worded: str, avoids: Sequence[str]) -> str | None:
    """What is wrong with a wording that says words which are to be avoided; None where it says none."""
    said = [word for word in avoids if says(worded, word)]
    return f"these words must not stand in it: {listed(said)}" if said else None


def _places(plan: Plan, frame: Frame, places: Sequence[str], seed: int) -> list[str]:
    """Where each step is said: the same place throughout a session; observed, each message at one of its own."""
    chance = random.Random(seeded(seed, plan.trajectory_id, "places"))
    if plan.scene == "observation":
        return [chance.choice(places) for _ in frame.slots]
    sessions = [chance.choice(places) for _ in plan.talks]
    return [sessions[slot.talk] for slot in frame.slots]


@dataclass(frozen=True)
class _Teller:
    plan: Plan
    simulator: Chat

    async def said(self) -> dict[Slot, _Said]:
        """The words of every step."""
        asked: list[Awaitable[dict[Slot, _Said]]] = []
        for number, talk in enumerate(self.plan.talks):
            asked += [self._beat(Slot(number, at), beat, talk) for at, beat in enumerate(talk.beats)]
            if talk.rounds:
                asked.append(self._dialogue(number, talk))
            asked += [
                self._after(number, at, talk, fillers) for at, fillers in enumerate(talk.fillers) if fillers
            ]
        return {slot: words for held in await asyncio.gather(*asked) for slot, words in held.items()}

    async def _beat(self, slot: Slot, beat: Beat, talk: Talk) -> dict[Slot, _Said]:
        fields: dict[str, Any] = {
            "said": beat.user,
            "keeps": listed(beat.keeps),
            "avoids": listed(talk.avoids),
        }

        def fault(worded: ToldRound | ToldMessage) -> str | None:
            if isinstance(worded, ToldMessage):
                return lost(beat.user, worded.text, beat.keeps) or named(worded.text, talk.avoids)
            replied = lost(beat.assistant or "", worded.assistant, beat.keeps)
            both = f"{worded.user}\n{worded.assistant}"
            return lost(beat.user, worded.user, beat.keeps) or replied or named(both, talk.avoids)

        output: type[ToldRound | ToldMessage]
        if self.plan.scene == "observation":
            stem, output = "told_alone", told_of(beat.user, beat.keeps)
        else:
            stem, output = "told", told_round_of(beat.user, beat.assistant or "", beat.keeps)
        if stem == "told" and beat.assistant is not None:
            stem, fields = "told_both", {**fields, "replied": beat.assistant}
        narrowed = prompt(stem, output, self.plan.language)
        answer = await ask(self.simulator, narrowed, fields, check=fault)
        if answer.value is None:
            return {slot: _Said(reason=answer.reason)}
        if isinstance(answer.value, ToldMessage):
            return {slot: _Said(answer.value.text)}
        return {slot: _Said(answer.value.user, answer.value.assistant)}

    async def _dialogue(self, number: int, talk: Talk) -> dict[Slot, _Said]:
        if self.plan.scene == "observation":
            raise BadInput(f"{self.plan.trajectory_id}: one who is only observed leads no conversation")
        facts = "\n".join(f"- {name}: {value}" for name, value in talk.context.items())
        fields = {"rounds": talk.rounds, "topic": talk.topic, "context": facts}
        return await self._rounds("dialogue", talk.rounds, Slot(number, None), fields)

    async def _after(self, number: int, beat: int, talk: Talk, fillers: int) -> dict[Slot, _Said]:
        plain = talk.beats[beat]
        said = [plain.user] if plain.assistant is None else [plain.user, plain.assistant]
        fields = {"topic": talk.topic, "said": "\n".join(said), "avoids": listed(talk.avoids)}
        slot = Slot(number, beat)
        if self.plan.scene == "participation":
            return await self._rounds("aftertalk", fillers, slot, {**fields, "rounds": fillers})
        narrowed = prompt("aftertalk_alone", messages_of(fillers), self.plan.language)
        answer = await ask(self.simulator, narrowed, {**fields, "messages": fillers})
        if answer.value is None:
            return _failed(slot, fillers, answer.reason)
        return {replace(slot, filler=at): _Said(text) for at, text in enumerate(answer.value.messages)}

    async def _rounds(
        self, stem: str, count: int, slot: Slot, fields: Mapping[str, Any]
    ) -> dict[Slot, _Said]:
        """Rounds that the simulator leads with itself, where `slot` stands."""
        narrowed = prompt(stem, rounds_of(count), self.plan.language)
        answer = await ask(self.simulator, narrowed, fields)
        if answer.value is None:
            return _failed(slot, count, answer.reason)
        return {
            replace(slot, filler=at): _Said(held.user, held.assistant)
            for at, held in enumerate(answer.value.rounds)
        }


def _failed(slot: Slot, count: int, reason: str | None) -> dict[Slot, _Said]:
    return {replace(slot, filler=at): _Said(reason=reason) for at in range(count)}
