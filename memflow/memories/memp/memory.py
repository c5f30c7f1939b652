"""Memp: a model distills procedures from dialogue; a query retrieves the procedures whose use case is similar.

CoMem applies Memp to dialogue without giving details; docs/fidelity.md describes this adaptation. After a read, an
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
from memflow.memories.memory import Calls, Memory, Message, ModelWrittenMemory, Recall, parameter
from memflow.memories.memp.answers import Outcome, Procedure, Reflection, Rewrite
from memflow.memories.notes import recalled
from memflow.memories.search import Dense
from memflow.memories.systems import System
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


def split_trajectories(said: Sequence[StoredMessage], size: int, after: str | None) -> list[Trajectory]:
    """Return the messages split into trajectories of at most `size` tokens; `after` is the next user message."""
    found = []
    for parts in reversed(fill_chunks(said, size)):
        found.append(_trajectory(parts, after))
        after = next((part.line() for part in parts if part.message.item.role == "user"), after)
    return found[::-1]


def _trajectory(parts: Sequence[MessagePart], after: str | None) -> Trajectory:
    made = merge_parts(parts)
    roles = [part.message.item.role for part in parts]
    answered = roles.index("assistant") if "assistant" in roles else len(roles)
    reacted = answered < len(roles) and (after is not None or "user" in roles[answered:])
    return Trajectory(made.text, made.sources, parts[-1].message.date, after, reacted)


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

    size: int = parameter(2000, "Tokens of a trajectory: what arrives together is cut to it.", low=1)
    k: int = parameter(10, "How many procedures are recalled.", low=1)
    threshold: float = parameter(0.5, "Cosine from which a procedure is recalled.", low=-1)
    build: str = parameter(
        "script",
        "What a procedure holds: a workflow, or the trajectory below it too.",
        choices=("script", "proceduralization"),
    )
    update: str = parameter(
        "vanilla", "What becomes of failures.", choices=("vanilla", "validation", "reflection")
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
        if before := stored_messages(self.store, BUFFER):
            after = messages[0].line() if messages[0].role == "user" else None
            await self._learn(before, after, self._retire_bookkeeping(HIT))
        store_messages(self.store, messages, BUFFER)
        if reads := self.store.live(READ):
            for read in reads:
                self.store.revise(read, kind=HIT)
        else:
            await self._learn(stored_messages(self.store, BUFFER), None, [])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return similar procedures, then the buffered messages; unless `frozen`, record the retrieved procedures."""
        found: list[Item] = []
        if self.store.live(PROCEDURE):
            vectors = await self.embed([query])
            near = self.index.scored(vectors[0], self.k)
            found = [one.item for one in near if one.score >= self.threshold]
        if not frozen:
            ids = [item.entry_id for item in found]
            self.store.add(READ, " ".join(ids), sources=(), meta={"procedures": ids})
        return with_buffer(recalled(found), stored_messages(self.store, BUFFER))

    async def _learn(self, said: Sequence[StoredMessage], after: str | None, hit: Sequence[Item]) -> None:
        """Judge the outcome of the messages, then drop, add or rewrite procedures, and empty the buffer."""
        lived = split_trajectories(said, self.size, after)
        learnt = await asyncio.gather(
            *(self._judge_and_build(one, judged=bool(hit) and one is lived[-1]) for one in lived)
        )
        for trajectory, answers in zip(lived, learnt, strict=True):
            for answer in answers:
                if answer is not None:
                    self.record(answer, trajectory.sources)
        # Of an arrival that was cut, the end says how it came out for what was read before it.
        outcome = _outcome(learnt[-1][0])
        hit = self._counted(hit, outcome)
        await self._add([(one, made.value) for one, (_, made) in zip(lived, learnt, strict=True) if made])
        if self.update == "reflection" and outcome == FAILED and hit:
            await self._reflect(lived[-1], hit)
        retire_messages(self.store, said, BUFFER)

    async def _judge_and_build(
        self, one: Trajectory, judged: bool
    ) -> tuple[Answer[Outcome] | None, Answer[Procedure] | None]:
        """Request the outcome and the procedure of a trajectory. Return both answers; None for an answer not needed."""
        judging = one.feedback and (judged or self.update != "vanilla")
        if self.update == "vanilla":
            outcome, made = await asyncio.gather(self._judge(one, judging), self._build(one))
            return outcome, made
        outcome = await self._judge(one, judging)
        return outcome, None if _outcome(outcome) == FAILED else await self._build(one)

    async def _judge(self, one: Trajectory, wanted: bool) -> Answer[Outcome] | None:
        fields = {"exchange": one.text, "after": one.after or "(nothing)"}
        return await self.request("outcome", fields) if wanted else None

    async def _build(self, one: Trajectory) -> Answer[Procedure]:
        return await self.request("build", {"trajectory": one.text})

    def _retire_bookkeeping(self, kind: str) -> list[Item]:
        """Retire the bookkeeping entries of a kind. Return the current versions of the procedures that they list."""
        found = {}
        for entry in self.store.live(kind):
            for named in entry.meta["procedures"]:
                if (item := self.store.latest(named)) is not None:
                    found[item.entry_id] = item
            self.store.retire(entry.entry_id)
        return list(found.values())

    def _counted(self, hit: Sequence[Item], outcome: str) -> list[Item]:
        """Count the outcome for the retrieved procedures and retire procedures that often fail. Return the rest."""
        if outcome not in (SUCCESS, FAILED):
            return list(hit)
        left = []
        for item in hit:
            hits, successes = item.meta["hit"] + 1, item.meta["success"] + (outcome == SUCCESS)
            if hits >= ENOUGH_HITS and successes / hits < LEAST_SUCCESS:
                self.store.retire(item.entry_id)
            else:
                meta = {**item.meta, "hit": hits, "success": successes}
                left.append(self.store.revise(item, meta=meta))
        return left

    async def _add(self, made: Sequence[tuple[Trajectory, Procedure | None]]) -> None:
        """Add procedures, embedded with one request. If an equal procedure exists, add the sources to it."""
        known = {(item.meta["query"], item.meta["workflow"]): item for item in self.store.live(PROCEDURE)}
        written = [(one, procedure) for one, procedure in made if procedure is not None]
        fresh = {p.query for _, p in written if (p.query, p.workflow) not in known}
        queries = [query for query in dict.fromkeys(p.query for _, p in written) if query in fresh]
        vectors = dict(zip(queries, await self.embed(queries), strict=True))
        for one, procedure in written:
            place = (procedure.query, procedure.workflow)
            if place in known:
                sources = dict.fromkeys((*known[place].sources, *one.sources))
                known[place] = self.store.revise(known[place], sources=sources)
                continue
            meta = {**procedure.model_dump(), "date": one.date, "hit": 0, "success": 0}
            if self.build == "proceduralization":
                meta["trajectory"] = one.text
            known[place] = self.store.add(
                PROCEDURE, _shown(meta), sources=one.sources, vector=vectors[procedure.query], meta=meta
            )

    async def _reflect(self, one: Trajectory, hit: Sequence[Item]) -> None:

        def wrong(rewrite: Rewrite, accepted: Sequence[Rewrite]) -> str | None:
            known = rewrite.number <= len(hit)
            return None if known else f"there is no procedure {rewrite.number}; they go from 1 to {len(hit)}"

        fields = {
            "procedures": "\n".join(f"{number}. {item.text}" for number, item in enumerate(hit, 1)),
            "exchange": one.text,
            "after": one.after or "(nothing)",
        }
        answer: Reflection | None = await self.ask("reflect", fields, sources=one.sources, check_item=wrong)
        for rewrite in answer.rewrites if answer else ():
            item = self.store.latest(hit[rewrite.number - 1].entry_id)
            if item is not None and item.meta["workflow"] != rewrite.workflow:
                meta = {**item.meta, "workflow": rewrite.workflow}
                sources = dict.fromkeys((*item.sources, *one.sources))
                self.store.revise(item, text=_shown(meta), sources=sources, vector=item.vector, meta=meta)


def _outcome(answer: Answer[Outcome] | None) -> str:
    return answer.value.outcome if answer is not None and answer.value is not None else "unclear"


def _shown(meta: Mapping[str, Any]) -> str:
    """Return a procedure as text for notes: the dated use case, then the workflow."""
    lines = [f"- {with_date(meta['query'], meta['date'])}", meta["workflow"], meta.get("trajectory", "")]
    return "\n".join(line for line in lines if line)


MEMP = System("memp", Memp, "CoMem, Memp", ("size", "k"))
MEMP_VALIDATION = System(
    "memp_validation",
    Memp,
    "Memp, validation",
    ("size", "k"),
    {"update": "validation"},
    summary="Memp that adds no procedure from failed exchanges.",
)
MEMP_REFLECTION = System(
    "memp_reflection",
    Memp,
    "Memp, reflection",
    ("size", "k"),
    {"update": "reflection"},
    summary="Memp that rewrites its procedures after failed exchanges.",
)
