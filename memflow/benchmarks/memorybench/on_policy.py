"""On-policy learning (paper, A.3.6): in each step, the evaluated assistant answers in some training dialogues.

All dialogues of a step use the memory from before the step and are written afterwards, in random order
(memflow/run/play.py). Follow-ups use the recall for the dialogue's question. A memory receives texts only, never gold.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import feedback, question
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.protocols import draws
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.users.actions import add_actions
from memflow.chat.prompts import load
from memflow.chat.requests import Chat
from memflow.errors import RecallFailed
from memflow.records import FeedbackRound, PlayedRound, Probe
from memflow.run.play import Dialogue, DialogueRunner, Event, PlayedEpisode, ReadMemory, Replier


@dataclass(frozen=True)
class DialogueRecord:
    """The feedback rows of one training dialogue, with its step and case."""

    step: int
    probe: Probe
    rows: list[FeedbackRound]


def events(domain: Domain, train: Sequence[Probe], simulator: Chat, first: int) -> Iterator[Event]:
    """Yield one event for each dialogue of each step. Events are numbered from `first`."""
    parameters = parameters_of(domain)
    number, before = first, set[str]()
    drawn = draws(train, parameters.batch, parameters.steps, domain.seed)
    for step, probes in enumerate(drawn, start=1):
        for probe in probes:
            again = probe.probe_id in before
            before.add(probe.probe_id)
            yield Event(number, step, "dialogue", (), lead=_lead(domain, probe, step, again, simulator))
            number += 1


def replier(chat: Chat) -> Replier:
    """Return the function that generates the assistant's replies in the dialogues."""
    prompt = load(question.PACKAGE, "answer_en")
    return Replier(chat, prompt, lambda recall, said: {"notes": recall.notes, "question": said.text})


def rounds(domain: Domain, assistant: str, played: Iterable[PlayedEpisode]) -> list[PlayedRound]:
    """Return the feedback rounds of all dialogues. User actions are calibrated on all dialogues together."""
    dialogues = [record for episode in played for record in episode.records]
    rows = [_row(row, assistant, dialogue.step) for dialogue in dialogues for row in dialogue.rows]
    return add_actions(domain, rows, [dialogue.probe for dialogue in dialogues])


def _row(row: FeedbackRound, assistant: str, step: int) -> PlayedRound:
    values = {field.name: getattr(row, field.name) for field in fields(FeedbackRound)}
    return PlayedRound(**values, assistant=assistant, checkpoint=step)


def _lead(domain: Domain, probe: Probe, step: int, again: bool, simulator: Chat) -> DialogueRunner:
    query = question.search_query(probe, parameters_of(domain).query == "prompt")

    async def lead(read: ReadMemory, chat: Chat) -> Dialogue:
        try:
            recall = await read(query)
        except RecallFailed as failed:
            rows = [_unanswered(domain, probe, str(failed))]
        else:
            rows = await feedback.converse(domain, probe, recall, chat, simulator)
        return Dialogue(
            feedback.dialogue_messages(rows, step if again else None), DialogueRecord(step, probe, rows)
        )

    return lead


def _unanswered(domain: Domain, probe: Probe, reason: str) -> FeedbackRound:
    return FeedbackRound(
        domain=domain.name,
        dataset=probe.dataset,
        case_id=probe.probe_id,
        episode_id=DIALOGUES,
        round=0,
        user_text=question.user_message(probe),
        answer="",
        reason=f"recall: {reason}",
    )
