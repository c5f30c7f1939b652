"""Generation of a planned question by the simulator: question text, small talk before the question, wrong options.

Dates are computed from the times of the evidence. A question without a valid wording has a reason.
"""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memflow.benchmarks.membench.answers import Distractors, ToldMessage, distractors_of, told_of
from memflow.benchmarks.membench.generation import timeline
from memflow.benchmarks.membench.generation.dialogues import find_missing_words
from memflow.benchmarks.membench.generation.layout import TrajectoryLayout
from memflow.benchmarks.membench.generation.plans import PlannedQuestion, TrajectoryPlan
from memflow.benchmarks.membench.generation.values import resolve_time
from memflow.benchmarks.membench.turns import ChoiceQuestion
from memflow.benchmarks.membench.wording import format_time, prompt, quote_list
from memflow.chat.asking import Answer, ask
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.records import Turn

OPTIONS = 4
WORD_SPACE = {"en": " ", "zh": ""}


async def word_question(
    plan: TrajectoryPlan, layout: TrajectoryLayout, said: Mapping[str, Turn], seed: int, simulator: Chat
) -> ChoiceQuestion:
    """Return the question of `plan` in words. `said` has the trajectory's messages by id. Raises BadInput."""
    evidence = layout.evidence(plan)
    missing = [message for message in (*evidence, layout.last) if message not in said]
    if missing:
        raise BadInput(f"message {missing[0]} is missing; regenerate utterance/turns")
    rng = random.Random(seeded(seed, plan.trajectory_id, "question"))
    asked_at = timeline.sample_later_time(timeline.parse_time(said[layout.last].sent_at or ""), rng)
    query = _resolve_date(plan, [said[message] for message in evidence], rng)
    quarantined = next((turn.reason for turn in said.values() if turn.reason is not None), None)
    made = _WordedQuestion(query.question, ())
    if quarantined is None:
        made = await _QuestionWriter(plan, query, simulator).made()
    reason = f"what it asks for could not be told: {quarantined}" if quarantined else made.reason
    place = rng.randrange(OPTIONS)
    options = rng.sample(made.wrong, len(made.wrong))
    options.insert(place, query.answer)
    return ChoiceQuestion(
        question=made.question,
        asked_at=format_time(asked_at, plan.language),
        options=tuple(options) if reason is None else (),
        gold=1 + place,
        answer=query.answer,
        evidence=evidence,
        reason=reason,
        previous=query.stale or query.answer,
    )


def _resolve_date(plan: TrajectoryPlan, told: Sequence[Turn], rng: random.Random) -> PlannedQuestion:
    """Return the question of a plan; for a question about a date, with the date as answer and near dates as options.

    The date is counted from the evidence message that states the time. Raises BadInput without such a message.
    """
    query = plan.query
    if not query.dated:
        return query
    dates = [turn for turn in told if json.loads(turn.exposes or "{}").get("value") == query.answer]
    if not dates:
        raise BadInput(
            f"no evidence of {plan.trajectory_id} states {query.answer!r}; regenerate utterance/turns"
        )
    moment = resolve_time(query.answer, timeline.parse_time(dates[-1].sent_at or ""))
    answer = _day(plan, moment)
    wrong = tuple(_day(plan, near) for near in timeline.sample_nearby_times(moment, OPTIONS - 1, rng))
    return replace(query, answer=answer, wrong=wrong)


def _day(plan: TrajectoryPlan, moment: datetime) -> str:
    return format_time(moment, plan.language).replace("'", "")


@dataclass(frozen=True)
class _WordedQuestion:
    """The simulator's wording of a question."""

    question: str
    wrong: Sequence[str]
    reason: str | None = None


@dataclass(frozen=True)
class _QuestionWriter:
    plan: TrajectoryPlan
    query: PlannedQuestion
    simulator: Chat

    async def made(self) -> _WordedQuestion:
        """Return the question text and the wrong options, requested concurrently from the simulator."""
        worded, wrong, murmur = await asyncio.gather(self._worded(), self._wrong(), self._murmur())
        reason = next((each.reason for each in (worded, wrong, murmur) if each.value is None), None)
        if reason is not None:
            return _WordedQuestion(self.query.question, (), reason)
        before = f"{murmur.value}{WORD_SPACE[self.plan.language]}" if murmur.value else ""
        return _WordedQuestion(f"{before}{worded.value}", wrong.value or ())

    async def _worded(self) -> Answer[str]:
        query = self.query

        def fault(worded: ToldMessage) -> str | None:
            return find_missing_words(query.question, worded.text, query.required_words) or _find_answer_leak(
                query, worded.text
            )

        fields = {"question": query.question, "keeps": quote_list(query.required_words)}
        narrowed = prompt("question", told_of(query.question, query.required_words), self.plan.language)
        answer = await ask(self.simulator, narrowed, fields, check=fault)
        return Answer(answer.value.text if answer.value else None, answer.reason)

    async def _murmur(self) -> Answer[str]:
        """Return small talk before an `aside` question; empty for all other questions."""
        if not self.query.aside:
            return Answer("")

        def fault(murmur: ToldMessage) -> str | None:
            return _find_answer_leak(self.query, murmur.text)

        fields = {"question": self.query.question}
        answer = await ask(self.simulator, prompt("murmur", language=self.plan.language), fields, check=fault)
        return Answer(answer.value.text if answer.value else None, answer.reason)

    async def _wrong(self) -> Answer[Sequence[str]]:
        given = self.query.wrong[: OPTIONS - 1]
        count = OPTIONS - 1 - len(given)
        if not count:
            return Answer(given)

        def fault(made: Distractors) -> str | None:
            seen = {_normalize(option) for option in (self.query.answer, *given)}
            for option in made.options:
                if _normalize(option) in seen:
                    return f"this option says the same as another: {option}"
                seen.add(_normalize(option))
            return None

        narrowed = prompt("distractors", distractors_of(count), self.plan.language)
        fields = {
            "question": self.query.question,
            "answer": self.query.answer,
            "wrong": quote_list(given),
            "count": count,
        }
        answer = await ask(self.simulator, narrowed, fields, check=fault)
        return Answer((*given, *answer.value.options) if answer.value else None, answer.reason)


def _find_answer_leak(query: PlannedQuestion, text: str) -> str | None:
    """Return an error text if a wording contains the answer and the plain question does not; otherwise None."""
    answer = _normalize(query.answer)
    told = answer in _normalize(text) and answer not in _normalize(query.question)
    return f"it gives the answer away: {query.answer}" if told else None


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .。\"'")
