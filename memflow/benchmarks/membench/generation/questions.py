"""Generation of a planned question by the simulator: question text, and small talk before the question.

Dates are computed from the times of the evidence. A question without a valid wording has a reason.
"""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memflow.benchmarks.membench.answers import ToldMessage
from memflow.benchmarks.membench.generation.dialogues import find_missing_words
from memflow.benchmarks.membench.generation.layout import sample_later_time
from memflow.benchmarks.membench.generation.plans import PlannedQuestion, TrajectoryPlan
from memflow.benchmarks.membench.generation.values import format_moment, resolve_time
from memflow.benchmarks.membench.generation.vocabulary import OPTIONS
from memflow.benchmarks.membench.turns import ChoiceQuestion, is_noise
from memflow.benchmarks.membench.wording import format_time, parse_time, prompt, quote_list, rerun_advice
from memflow.chat.asking import Answer, ask
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.records import Turn

WORD_SPACE = {"en": " ", "zh": ""}


async def word_question(
    plan: TrajectoryPlan, turns: Sequence[Turn], seed: int, simulator: Chat
) -> ChoiceQuestion:
    """Return the question of `plan` in words, given the messages of its trajectory in order. Raises BadInput."""
    turns = [turn for turn in turns if not is_noise(turn.message_id)]
    evidence = [turn for turn in turns if turn.exposes is not None]
    if not evidence:
        raise BadInput(f"the evidence messages of {plan.trajectory_id} are missing. {rerun_advice()}")
    rng = random.Random(seeded(seed, plan.trajectory_id, "question"))
    asked_at = sample_later_time(_sent_at(turns[-1]), rng)
    query = _resolve_date(plan, evidence)
    quarantined = next((turn.reason for turn in turns if turn.reason is not None), None)
    text = Answer(query.question, quarantined and f"what it asks for could not be told: {quarantined}")
    if quarantined is None:
        text = await _word(plan, query, simulator)
    place = rng.randrange(OPTIONS)
    options = rng.sample(query.wrong, len(query.wrong))
    options.insert(place, query.answer)
    return ChoiceQuestion(
        question=text.value or query.question,
        asked_at=format_time(asked_at, plan.language),
        options=tuple(options) if text.reason is None else (),
        gold=1 + place,
        answer=query.answer,
        evidence=tuple(turn.message_id for turn in evidence),
        reason=text.reason,
        previous=query.stale or query.answer,
    )


def _resolve_date(plan: TrajectoryPlan, told: Sequence[Turn]) -> PlannedQuestion:
    """Return the question of a plan; for a question about a time, with dates as answer and options.

    The dates are counted from the evidence message that states the time. Raises BadInput without such a message.
    """
    query = plan.query
    if not query.dated:
        return query
    dates = [turn for turn in told if json.loads(turn.exposes or "{}").get("value") == query.answer]
    if not dates:
        raise BadInput(f"no evidence of {plan.trajectory_id} states {query.answer!r}. {rerun_advice()}")
    sent_at = _sent_at(dates[-1])
    try:
        times = [resolve_time(time, sent_at) for time in (query.answer, *query.wrong)]
    except BadInput as error:
        raise BadInput(f"the question of {plan.trajectory_id}: {error}") from error
    answer, *wrong = (format_moment(time, plan.language) for time in times)
    return replace(query, answer=answer, wrong=tuple(wrong))


def _sent_at(turn: Turn) -> datetime:
    """Return the time of a message. Raises BadInput if the message has none."""
    moment = parse_time(turn.sent_at or "")
    if moment is None:
        raise BadInput(
            f"message {turn.message_id} of {turn.domain} has the time {turn.sent_at!r} instead of one such as "
            f"2024-10-01 08:13. {rerun_advice(turn.domain)}"
        )
    return moment


async def _word(plan: TrajectoryPlan, query: PlannedQuestion, simulator: Chat) -> Answer[str]:
    """Return the question text, with small talk before an `aside` question, requested concurrently."""
    stems = ("murmur", "question") if query.aside else ("question",)
    answers = await asyncio.gather(*(_ask(stem, plan, query, simulator) for stem in stems))
    texts = [answer.value.text for answer in answers if answer.value is not None]
    if len(texts) < len(stems):
        return Answer(None, next(answer.reason for answer in answers if answer.value is None))
    return Answer(WORD_SPACE[plan.language].join(texts))


async def _ask(
    stem: str, plan: TrajectoryPlan, query: PlannedQuestion, simulator: Chat
) -> Answer[ToldMessage]:
    fields = {"question": query.question}
    required_words: Sequence[str] = ()
    if stem == "question":
        required_words = query.required_words
        fields["keeps"] = quote_list(required_words)

    def fault(worded: ToldMessage) -> str | None:
        missing = find_missing_words(query.question, worded.text, required_words)
        return missing or _find_answer_leak(query, worded.text)

    return await ask(simulator, prompt(stem, language=plan.language), fields, check=fault)


def _find_answer_leak(query: PlannedQuestion, text: str) -> str | None:
    """Return an error text if a wording contains the answer and the plain question does not; otherwise None."""
    answer = _normalize(query.answer)
    told = answer in _normalize(text) and answer not in _normalize(query.question)
    return f"it gives the answer away: {query.answer}" if told else None


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .。\"'")
