"""A chat model as an annotator.

The model gets the same items and guide as people, without the key, in one request per item.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from memflow.annotation.annotations import Annotations
from memflow.annotation.answers import Chosen, chosen_of
from memflow.annotation.sheet import Item, Sheet, Unit
from memflow.chat.asking import Answer, ask
from memflow.chat.prompts import load
from memflow.chat.requests import Chat
from memflow.chat.scripted import LABEL
from memflow.judges.cases import JudgeCase, load_cases

LONGEST_REASON = 2_000


def judge_cases() -> Sequence[JudgeCase]:
    """Return the cases of the injection test, whose injections are in the annotated text."""
    narrowed = replace(load("memflow.annotation", "label"), output=chosen_of(("absent", "stated")))
    return load_cases("memflow.annotation", {"label": narrowed})


async def annotate(
    sheet: Sheet, chat: Chat, name: str, tick: Callable[[], None] = lambda: None
) -> Annotations:
    """Return the annotations of the model `chat` under the annotator name `name`. Raises the errors of `ask`.

    The callback `tick` is called after each item.
    """
    asked = [(unit, item) for unit in sheet.units for item in unit.items]

    async def one(unit: Unit, item: Item) -> Answer[Chosen]:
        answer = await _label(sheet, unit, item, chat)
        tick()
        return answer

    answers = await asyncio.gather(*(one(unit, item) for unit, item in asked))
    found = {item.id: answer for (_, item), answer in zip(asked, answers, strict=True)}
    return Annotations(
        name,
        "model",
        {item: answer.value.label for item, answer in found.items() if answer.value is not None},
        failed={
            item: (answer.reason or "no answer")[:LONGEST_REASON]
            for item, answer in found.items()
            if answer.value is None
        },
        note=f"{name} is {LABEL}" if chat.scripted else None,
    )


async def _label(sheet: Sheet, unit: Unit, item: Item, chat: Chat) -> Answer[Chosen]:
    prompt = load("memflow.annotation", "label")
    fields = {
        "guide": sheet.header.guide,
        "shown": [(part.title, part.text) for part in unit.shown],
        "asks": item.asks,
        "facts": "\n".join(f"{fact.title}: {fact.text}" for fact in item.facts),
        "labels": "\n".join(f"{label.name}: {' '.join(label.says.split())}" for label in item.labels),
    }
    narrowed = chosen_of(tuple(label.name for label in item.labels))
    return await ask(chat, replace(prompt, output=narrowed), fields)
