"""Memp: a model distills procedures from dialogue; a query retrieves the procedures whose use case is similar.

CoMem applies Memp to dialogue without giving details; deviations.yaml describes this adaptation. After a read, an
exchange stays in the buffer until the user's next message arrives, which is the feedback on the exchange.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memflow.chat.asking import Answer
from memflow.memories.chunks import MessagePart, fill_chunks, merge_parts
from memflow.memories.design import Design
from memflow.memories.entries import Item
from memflow.memories.memory import (
    Calls,
    Memory,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    Recall,
    parameter,
)
from memflow.memories.memp.answers import Outcome, Procedure, Reflection, Rewrite
from memflow.memories.notes import recalled
from memflow.memories.search import Dense
from memflow.memories.verbatim import (
    StoredMessage,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
    with_date,
)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A piece of dialogue to learn from: its text, source messages and last date.

    `after` is the next user message, if any. `feedback` is True if a user message follows an assistant message.
    """

    text: str
    sources: tuple[str, ...]
    date: str | None
    after: str | None
    feedback: bool


def split_trajectories(messages: Sequence[StoredMessage], size: int, after: str | None) -> list[Trajectory]:
    """Return the messages split into trajectories of at most `size` tokens; `after` is the next user message."""
    trajectories = []
    # Backwards, because a trajectory's feedback is the first user message after it.
    for parts in reversed(fill_chunks(messages, size)):
        trajectories.append(_trajectory(parts, after))
        user_lines = (part.line() for part in parts if part.message.item.role == "user")
        after = next(user_lines, after)
    return trajectories[::-1]


def _trajectory(parts: Sequence[MessagePart], after: str | None) -> Trajectory:
    """Return the trajectory of message parts; `after` is the line of the next user message, None without one."""
    draft = merge_parts(parts)
    roles = [part.message.item.role for part in parts]
    first_answer = roles.index("assistant") if "assistant" in roles else len(roles)
    has_feedback = first_answer < len(roles) and (after is not None or "user" in roles[first_answer:])
    return Trajectory(draft.text, draft.sources, parts[-1].message.date, after, has_feedback)


BUFFER, PROCEDURE = "buffer", "procedure"
READ, HIT = "read", "hit"
"""Kinds of bookkeeping entries: procedures retrieved for the next exchange, and for the one in the buffer."""

SUCCESS, FAILED = "success", "failure"
ENOUGH_HITS, LEAST_SUCCESS = 3, 0.5
"""From this many hits on, a procedure needs at least this share of successes."""


@dataclass
class Memp(ModelWrittenMemory):
    """A memory of procedures that a model distills from dialogue, retrieved if the use case is similar to the query.

    `update` is the handling of failures: `vanilla` learns from every trajectory, `validation` only from those without
    failure, and `reflection` also rewrites retrieved procedures after a failure. An unclear outcome is no failure.
    """

    size: int = parameter(2000, "Maximum tokens of a trajectory; longer exchanges are split.", low=1)
    k: int = parameter(10, "Number of recalled procedures.", low=1)
    threshold: float = parameter(0.5, "Minimum cosine of a recalled procedure and the query.", low=-1)
    build: str = parameter(
        "script",
        "The content of a procedure: its workflow, or also its trajectory.",
        choices=("script", "proceduralization"),
    )
    update: str = parameter(
        "vanilla", "The handling of failed exchanges.", choices=("vanilla", "validation", "reflection")
    )

    calls: ClassVar[Calls] = Calls(chat_write=2, embed_write=1, embed_read=1)
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {READ, HIT}

    @property
    def design(self) -> Design:
        """Procedures summarize trajectories, and a query retrieves only those that are similar enough."""
        return Design(merges=True, threshold=True)

    def __post_init__(self) -> None:
        self.index = Dense(self.store, PROCEDURE)

    async def write(self, messages: Sequence[Message]) -> None:
        """Learn from the buffered exchange, to which the new messages are the feedback, and buffer the new messages.

        If no read precedes the new messages, the memory learns from them immediately, without waiting for feedback.
        """
        if not messages:
            return
        if buffer := stored_messages(self.store, BUFFER):
            feedback = messages[0].line() if messages[0].role == "user" else None
            await self._learn(buffer, feedback, self._retire_bookkeeping(HIT))
        store_messages(self.store, messages, BUFFER)
        if reads := self.store.live(READ):
            # The next write is the feedback on these reads, and learns from them.
            for read in reads:
                self.store.revise(read, kind=HIT)
        else:
            await self._learn(stored_messages(self.store, BUFFER), None, [])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return similar procedures, then the buffered messages; unless `frozen`, record the retrieved procedures."""
        procedures: list[Item] = []
        if self.store.live(PROCEDURE):
            vectors = await self.embed([query], "query")
            hits = self.index.scored(vectors[0], self.k)
            procedures = [hit.item for hit in hits if hit.score >= self.threshold]
        if not frozen:
            ids = [item.entry_id for item in procedures]
            self.store.add(READ, " ".join(ids), sources=(), meta={"procedures": ids})
        return with_buffer(recalled(procedures), stored_messages(self.store, BUFFER))

    async def _learn(
        self, messages: Sequence[StoredMessage], after: str | None, retrieved: Sequence[Item]
    ) -> None:
        """Judge the outcome of the messages, then drop, add or rewrite procedures, and empty the buffer."""
        trajectories = split_trajectories(messages, self.size, after)
        answer_pairs = await asyncio.gather(
            *(
                self._judge_and_build(trajectory, bool(retrieved) and trajectory is trajectories[-1])
                for trajectory in trajectories
            )
        )
        for trajectory, answers in zip(trajectories, answer_pairs, strict=True):
            for answer in answers:
                if answer is not None:
                    self.record(answer, trajectory.sources)
        # The outcome of the last trajectory counts for the procedures that were retrieved before the exchange.
        outcome = _outcome_of(answer_pairs[-1][0])
        retrieved = self._count_outcome(retrieved, outcome)
        procedures = [
            (trajectory, answer.value)
            for trajectory, (_, answer) in zip(trajectories, answer_pairs, strict=True)
            if answer is not None and answer.value is not None
        ]
        await self._add_procedures(procedures)
        if self.update == "reflection" and outcome == FAILED and retrieved:
            await self._reflect(trajectories[-1], retrieved)
        retire_messages(self.store, messages, BUFFER)

    async def _judge_and_build(
        self, trajectory: Trajectory, judge_requested: bool
    ) -> tuple[Answer[Outcome] | None, Answer[Procedure] | None]:
        """Return (outcome, procedure): the answers for a trajectory, each None if it was not requested."""
        judge = trajectory.feedback and (judge_requested or self.update != "vanilla")
        if self.update == "vanilla":
            outcome, procedure = await asyncio.gather(self._judge(trajectory, judge), self._build(trajectory))
            return outcome, procedure
        outcome = await self._judge(trajectory, judge)
        if _outcome_of(outcome) == FAILED:
            return outcome, None
        return outcome, await self._build(trajectory)

    async def _judge(self, trajectory: Trajectory, requested: bool) -> Answer[Outcome] | None:
        fields = {"exchange": trajectory.text, "after": trajectory.after or "(nothing)"}
        return await self.request(PromptRequest("outcome", fields)) if requested else None

    async def _build(self, trajectory: Trajectory) -> Answer[Procedure]:
        return await self.request(PromptRequest("build", {"trajectory": trajectory.text}))

    def _retire_bookkeeping(self, kind: str) -> list[Item]:
        """Retire the bookkeeping entries of a kind. Return the current versions of the procedures that they list."""
        procedures = {}
        for entry in self.store.live(kind):
            for entry_id in entry.meta["procedures"]:
                if (item := self.store.latest(entry_id)) is not None:
                    procedures[item.entry_id] = item
            self.store.retire(entry.entry_id)
        return list(procedures.values())

    def _count_outcome(self, retrieved: Sequence[Item], outcome: str) -> list[Item]:
        """Count the outcome for the retrieved procedures and retire procedures that often fail. Return the others."""
        if outcome not in (SUCCESS, FAILED):
            return list(retrieved)
        successful = []
        for item in retrieved:
            hits = item.meta["hit"] + 1
            successes = item.meta["success"] + (1 if outcome == SUCCESS else 0)
            if hits >= ENOUGH_HITS and successes / hits < LEAST_SUCCESS:
                self.store.retire(item.entry_id)
            else:
                meta = {**item.meta, "hit": hits, "success": successes}
                successful.append(self.store.revise(item, meta=meta))
        return successful

    async def _add_procedures(self, procedures: Sequence[tuple[Trajectory, Procedure]]) -> None:
        """Add procedures, embedded with one request. If an equal procedure exists, add the sources to it."""
        entries = {(item.meta["query"], item.meta["workflow"]): item for item in self.store.live(PROCEDURE)}
        new_procedures = [
            procedure for _, procedure in procedures if (procedure.query, procedure.workflow) not in entries
        ]
        queries = list(dict.fromkeys(procedure.query for procedure in new_procedures))
        # A query finds procedures by their own queries, so both are embedded alike.
        vectors = dict(zip(queries, await self.embed(queries, "query"), strict=True))
        for trajectory, procedure in procedures:
            key = (procedure.query, procedure.workflow)
            if key in entries:
                sources = dict.fromkeys((*entries[key].sources, *trajectory.sources))
                entries[key] = self.store.revise(entries[key], sources=sources)
                continue
            meta = {**procedure.model_dump(), "date": trajectory.date, "hit": 0, "success": 0}
            if self.build == "proceduralization":
                meta["trajectory"] = trajectory.text
            entries[key] = self.store.add(
                PROCEDURE,
                _procedure_text(meta),
                sources=trajectory.sources,
                vector=vectors[procedure.query],
                meta=meta,
            )

    async def _reflect(self, trajectory: Trajectory, retrieved: Sequence[Item]) -> None:
        """Ask for repaired versions of the procedures that failed, and store them."""

        def find_error(rewrite: Rewrite, accepted: Sequence[Rewrite]) -> str | None:
            if rewrite.number > len(retrieved):
                return f"there is no procedure {rewrite.number}; they go from 1 to {len(retrieved)}"
            return None

        fields = {
            "procedures": "\n".join(f"{number}. {item.text}" for number, item in enumerate(retrieved, 1)),
            "exchange": trajectory.text,
            "after": trajectory.after or "(nothing)",
        }
        answer: Reflection | None = await self.ask(
            "reflect",
            fields,
            sources=trajectory.sources,
            check_item=find_error,
            numbers=dict.fromkeys(("number", "rewrites"), len(retrieved)),
        )
        for rewrite in answer.rewrites if answer else ():
            item = self.store.latest(retrieved[rewrite.number - 1].entry_id)
            if item is not None and item.meta["workflow"] != rewrite.workflow:
                meta = {**item.meta, "workflow": rewrite.workflow}
                sources = dict.fromkeys((*item.sources, *trajectory.sources))
                self.store.revise(
                    item, text=_procedure_text(meta), sources=sources, vector=item.vector, meta=meta
                )


def _outcome_of(answer: Answer[Outcome] | None) -> str:
    return answer.value.outcome if answer is not None and answer.value is not None else "unclear"


def _procedure_text(meta: Mapping[str, Any]) -> str:
    """Return a procedure as text for notes: the dated use case, then the workflow."""
    lines = [f"- {with_date(meta['query'], meta['date'])}", meta["workflow"], meta.get("trajectory", "")]
    return "\n".join(line for line in lines if line)
