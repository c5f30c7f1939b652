"""Turns to episodes, and how a probe is put to an assistant.

Everything is given: nobody replies while a context is played. What arrives together is written at once.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, cast

from memflow.benchmarks.benchmark import Question
from memflow.benchmarks.choices import choice_of, lettered
from memflow.benchmarks.comem.wording import prompt
from memflow.memories.memory import Message, Recall
from memflow.play import Episode, Event
from memflow.records import Probe, Turn


def make_episodes(turns: Sequence[Turn]) -> list[Episode]:
    """An episode for each context that has a message to play; messages with a reason are not played."""
    held: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.reason is None:
            held.setdefault(turn.episode_id, []).append(turn)
    found = []
    for name, said in held.items():
        ordered = sorted(said, key=lambda turn: (turn.event, turn.position))
        arrivals = groupby(ordered, key=lambda turn: turn.event)
        found.append(Episode(name, tuple(_event(number, list(come)) for number, come in arrivals)))
    return found


def _event(number: int, come: Sequence[Turn]) -> Event:
    messages = tuple(
        Message(
            turn.message_id,
            cast(Literal["user", "assistant"], turn.role),
            turn.text,
            turn.speaker,
            turn.sent_at,
        )
        for turn in come
    )
    return Event(number, come[0].checkpoint, "given", messages)


def put(probe: Probe, recall: Recall, told: str | None) -> Question:
    """The probe as it is asked; a memory is searched with the question. Where the oracle is told nothing, at checkpoint
    0, it is asked as everybody is."""
    fields = {"question": probe.question, "options": lettered(probe.options)}
    output = choice_of(len(probe.options))
    if told:
        return Question(
            prompt("choice_told", output, probe.language), {**fields, "told": told}, probe.question
        )
    if recall.notes:
        with_notes = prompt("choice_with_notes", output, probe.language)
        return Question(with_notes, {**fields, "notes": recall.notes}, probe.question)
    return Question(prompt("choice", output, probe.language), fields, probe.question)
