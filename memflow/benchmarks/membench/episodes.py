"""Turns to episodes, and how a probe is put to an assistant.

Nobody replies while a trajectory is played: what the assistant says is given (paper, section 3.2), so that a memory is
measured and not what stands around it. A step is written at once, and the next one after it.
"""

from collections.abc import Sequence
from typing import Literal, cast

from memflow.benchmarks.benchmark import Question
from memflow.benchmarks.choices import choice_of, lettered
from memflow.benchmarks.membench.trajectories import steps_of
from memflow.benchmarks.membench.wording import prompt
from memflow.memories.memory import Message, Recall
from memflow.play import Episode, Event
from memflow.records import Probe, Turn


def make_episodes(turns: Sequence[Turn]) -> list[Episode]:
    """An episode for each trajectory that has a message to play; messages with a reason are not played."""
    held: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.reason is None:
            held.setdefault(turn.episode_id, []).append(turn)
    return [
        Episode(name, tuple(_event(number, step) for number, step in enumerate(steps_of(said))))
        for name, said in held.items()
    ]


def _event(number: int, step: Sequence[Turn]) -> Event:
    messages = tuple(
        Message(
            turn.message_id,
            cast(Literal["user", "assistant"], turn.role),
            turn.text,
            turn.speaker,
            turn.sent_at,
        )
        for turn in step
    )
    return Event(number, step[0].checkpoint, "given", messages)


def put(probe: Probe, recall: Recall, told: str | None) -> Question:
    """The probe as it is asked. A memory is searched with the question and its time, as in the published code."""
    time = probe.asked_at or ""
    fields = {"question": probe.question, "time": time, "options": lettered(probe.options)}
    output = choice_of(len(probe.options))
    query = f"{probe.question} ({time})" if time else probe.question
    if told is not None:
        return Question(prompt("choice_told", output, probe.language), {**fields, "told": told}, query)
    if recall.notes:
        with_notes = prompt("choice_with_notes", output, probe.language)
        return Question(with_notes, {**fields, "notes": recall.notes}, query)
    return Question(prompt("choice", output, probe.language), fields, query)
