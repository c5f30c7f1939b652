"""Off-policy feedback (paper, A.2, A.3): the backbone answers the training cases and simulated users react.

A dialogue has at most three answers and two reactions. If a model fails, the row has a reason.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import arrivals, message_of
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.benchmarks.memorybench.question import (
    answer_text,
    build_prompt,
    build_retry_prompt,
    user_message,
)
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.users.actions import add_actions
from memflow.benchmarks.memorybench.users.reactions import react
from memflow.chat.asking import ask
from memflow.chat.requests import Chat, ChatMessage
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory, Message, Recall, Tools
from memflow.memories.retrieval import Lexical
from memflow.records import FeedbackRound, Probe, Turn
from memflow.run.play import Origin, SpokenMessage
from memflow.tokens import estimate

ANSWERS = 3


async def feedback(
    domain: Domain, turns: Sequence[Turn], probes: Sequence[Probe], backbone: Chat, simulator: Chat
) -> list[FeedbackRound]:
    """Return the dialogues of all training cases in the order of `probes`, one row per answer."""
    train = [probe for probe in probes if probe.split == "train" and probe.reason is None]
    readers = await _readers(turns)
    tokens = parameters_of(domain).context_tokens

    async def one(probe: Probe) -> list[FeedbackRound]:
        reader = readers.get(probe.episode_id)
        recall = Recall(await _context(reader, probe.question, tokens) if reader else "")
        return await converse(domain, probe, recall, backbone, simulator)

    dialogues = await asyncio.gather(*map(one, train))
    return add_actions(domain, [row for dialogue in dialogues for row in dialogue], train)


async def _readers(turns: Sequence[Turn]) -> dict[str, Memory]:
    """Return one retriever per corpus: BM25 over sessions, top five, as in the paper. All backbones share them."""
    readers: dict[str, Memory] = {}
    for episode, said in groupby(
        sorted(turns, key=lambda turn: turn.episode_id), lambda turn: turn.episode_id
    ):
        reader = readers[episode] = Lexical(EntryStore(), Tools(), k=5, grain="session")
        for session in arrivals(list(said)):
            reader.store.advance(len(session))
            await reader.write([message_of(turn) for turn in session])
    return readers


async def _context(reader: Memory, question: str, tokens: int) -> str:
    """Return the most relevant retrieved sessions with at most `tokens` tokens in total (paper, section 3.1)."""
    found = [item.text for item in (await reader.read(question)).entries]
    while found and sum(map(estimate, found)) > tokens:
        found.pop()
    return "\n".join(found)


async def converse(
    domain: Domain, probe: Probe, recall: Recall, assistant: Chat, simulator: Chat
) -> list[FeedbackRound]:
    """Return the dialogue of one training case, one row per answer.

    The recall for the question precedes every answer (paper, A.3.3: only the first turn queries the memory). Actions
    are added later, because they depend on the dialogues of all cases.
    """
    notes = recall.notes
    answers = 1 if parameters_of(domain).follow_ups == "published_code" else ANSWERS
    rows: list[FeedbackRound] = []
    history: list[ChatMessage] = []
    said = user_message(probe)
    for number in range(ANSWERS):
        prompt, fields = build_retry_prompt(probe, notes, said) if rows else build_prompt(probe, notes)
        answered = await ask(assistant, prompt, fields, [*recall.messages, *history])
        row = FeedbackRound(
            domain=domain.name,
            dataset=probe.dataset,
            case_id=probe.probe_id,
            episode_id=DIALOGUES,
            round=number,
            user_text=said,
            answer="" if answered.value is None else answer_text(answered.value),
            completion=answered.digest,
            cut=answered.cut,
            reason=answered.reason,
        )
        history += [ChatMessage("user", said), ChatMessage("assistant", row.answer)]
        if row.reason is None and number < ANSWERS - 1:
            reaction = await react(domain, probe, history, simulator)
            row = replace(
                row,
                score=reaction.score,
                satisfaction=reaction.satisfaction,
                critique=reaction.critique,
                ended=reaction.ended,
                reason=reaction.reason,
            )
        rows.append(row)
        if row.critique is None or row.ended or len(rows) == answers:
            break
        said = row.critique
    return rows


def dialogue_messages(rows: Sequence[FeedbackRound], step: int | None = None) -> list[SpokenMessage]:
    """Return the messages of a dialogue in order, failed messages last. Ids in repeated dialogues contain `step`."""
    found: list[SpokenMessage] = []

    def say(
        role: Literal["user", "assistant"],
        text: str,
        origin: Origin,
        completion: str | None = None,
        reason: str | None = None,
        cut: bool = False,
    ) -> None:
        message = Message(feedback_id(rows[0].case_id, len(found), step), role, text)
        found.append(SpokenMessage(message, origin, completion, reason, cut))

    valid = [row for row in rows if row.reason is None]
    for row in valid:
        say("user", row.user_text, "simulator" if row.round else "given")
        say("assistant", row.answer, "assistant", row.completion, cut=row.cut)
    if valid and valid[-1].critique is not None:
        say("user", valid[-1].critique, "simulator")
    for row in rows:
        if row.reason is not None:
            say("assistant", row.answer, "assistant", row.completion, row.reason)
    return found


def remembered_messages(rows: Sequence[FeedbackRound]) -> list[Message]:
    """Return the messages of an off-policy dialogue that a memory receives."""
    return [message.message for message in dialogue_messages(rows) if message.reason is None]
