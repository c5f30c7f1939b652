"""MemoryBank: messages, daily summaries, and a global summary and portrait of the user (Zhong et al. 2024).

A day ends when the simulated date changes; without dates, after a session or after `day` messages. A read decides at
random (seeded) which entries are retained, with probabilities from the forgetting curve; no entry is deleted.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Literal

from memflow.fingerprint import seeded
from memflow.memories.access import ACCESS, AccessLog
from memflow.memories.entries import Item, sources_of
from memflow.memories.memory import (
    Calls,
    Memory,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    Recall,
    parameter,
)
from memflow.memories.notes import first_within, join_texts, recalled, split_messages
from memflow.memories.search import Dense
from memflow.memories.verbatim import with_date
from memflow.tokens import estimate

_CLOCK = re.compile(
    r"""
    (?:(?<=\d)T)?                                              # the T of 2024-10-01T08:13
    (?:
        \d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]\.?m\b\.?)?  # 08:13, 8:13:05 pm
      | \d{1,2}\s*[ap]\.?m\b\.?                               # 8 pm
      | (?:凌晨|早上|上午|中午|下午|晚上)?\s*\d{1,2}\s*[点时](?:\s*\d{1,2}\s*分)?(?:\s*\d{1,2}\s*秒)?
    )
    (?:\s*(?:Z\b|UTC|GMT|[+-]\d{2}:?\d{2}\b))?                # a zone
    (?:\s*on\b)?                                              # the on of 1:56 pm on 8 May
    """,
    re.VERBOSE | re.IGNORECASE,
)

Forgetting = Literal["none", "curve", "published_code"]


def retention(days: int, strength: int, coefficient: float, forgetting: Forgetting) -> float:
    """Return the probability that a memory is retained `days` after its last access, from 0 to 1.

    `curve` is exp(-days / (coefficient * strength)). `published_code` is what the code of MemoryBank, MemEngine and
    MemBench computes, exp(-days / coefficient * strength): stronger memories fade faster.
    """
    if forgetting == "none":
        return 1.0
    if forgetting == "curve":
        return math.exp(-days / (coefficient * strength))
    return math.exp(-days / coefficient * strength)


def uniform_draw(*parts: object) -> float:
    """Return a random number in [0, 1) that is seeded with `parts`, so a restored memory forgets the same entries."""
    return seeded(*parts) / 2**63


def day_of(sent_at: str | None) -> str | None:
    """Return a date without its time, `8 May, 2023` for `1:56 pm on 8 May, 2023`; None without a date.

    Dates are free text (`2024年10月1日 8点13分`), which is compared as text, never parsed.
    """
    if sent_at is None:
        return None
    return " ".join(_CLOCK.sub(" ", sent_at).replace("'", " ").split()).strip(" ,;") or None


MESSAGE, EVENTS, TRAITS = "message", "day_summary", "day_portrait"
SUMMARY, PORTRAIT = "summary", "portrait"
DAY = "day"
"""Kind of the entries that end a day; the messages since the previous one belong to that day."""

LONGEST = 4_000
"""The maximum tokens of a day, and of the days for a global summary, in one request."""


@dataclass
class MemoryBank(ModelWrittenMemory):
    """A memory of messages and daily summaries that are forgotten over time, with a global summary and portrait."""

    k: int = parameter(5, "Number of recalled messages and daily summaries (as in MemEngine).", low=1)
    budget: int = parameter(
        0, "Maximum number of recalled tokens (estimated), summary and portrait first; 0 for no limit."
    )
    day: int = parameter(20, "Messages after which a day without a date ends.", low=1)
    portrait: Literal["yes", "no"] = parameter(
        "yes", "Whether the user's portrait is written, per day and overall.", choices=("yes", "no")
    )
    forgetting: Literal["none", "curve", "published_code"] = parameter(
        "curve",
        "The forgetting of memories: none, by the paper's curve, or by the curve of the published code.",
        choices=("none", "curve", "published_code"),
    )
    coefficient: float = parameter(
        5.0, "Days after which a memory of strength 1 is retained with 37 %.", low=0.1
    )

    calls: ClassVar[Calls] = Calls(chat_write=4, embed_write=2, embed_read=1, per="message")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {ACCESS, DAY}
    global_kinds: ClassVar[frozenset[str]] = frozenset({SUMMARY, PORTRAIT})

    def __post_init__(self) -> None:
        self.index = Dense(self.store, MESSAGE, EVENTS)
        self.accesses = AccessLog(self.store)

    async def write(self, messages: Sequence[Message]) -> None:
        """Add the messages and summarize each day that has ended."""
        drafts = split_messages(messages, "message")
        vectors = await self.embed([draft.text for draft in drafts], "passage")
        today, date = self._messages_of_day(), self._current_date()
        tokens_of_day = sum(estimate(item.text) for item in today)
        ended_days: list[list[Item]] = []
        for message, draft, vector in zip(messages, drafts, vectors, strict=True):
            previous_date = date
            date = day_of(message.sent_at) or previous_date
            tokens = estimate(draft.text)
            if today and (date != previous_date or tokens_of_day + tokens > LONGEST):
                ended_days.append(self._end_day(today))
                today, tokens_of_day = [], 0
            meta = {"day": self._day_number(), "date": date}
            item = self.store.add(
                MESSAGE, draft.text, sources=draft.sources, role=draft.role, vector=vector, meta=meta
            )
            today.append(item)
            tokens_of_day += tokens
        # Without dates, a day is one call of `write` with several messages, or `self.day` messages.
        if date is None and (len(messages) > 2 or len(today) >= self.day):
            ended_days.append(self._end_day(today))
        if ended_days:
            await self._summarize_days(ended_days)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return summary, portrait and the nearest retained entries; unless `frozen`, record the access to them."""
        if not self.store.live(MESSAGE):
            return Recall()
        [vector] = await self.embed([query], "query")
        nearest = self.index.search(vector, len(self.store))
        retained = list(islice((item for item in nearest if self._is_retained(item)), self.k))
        global_summaries = [*self.store.live(SUMMARY), *self.store.live(PORTRAIT)]
        budget = None
        if self.budget:
            budget = max(0, self.budget - sum(estimate(item.text) for item in global_summaries))
        recall = recalled(retained, budget)
        if not frozen:
            self.accesses.note(recall.entries, self._day_number())
        notes = "\n\n".join(part for part in (join_texts(global_summaries), recall.notes) if part)
        # Summary and portrait do not depend on the query, so they rank behind the search results.
        entries = (*recall.entries, *global_summaries)
        ranking = recall.ranking and (*recall.ranking, *global_summaries)
        return Recall(notes, (), entries, estimate(notes), recall.dropped_tokens, ranking)

    def retention(self, item: Item) -> float:
        """Return the current probability that a message or daily summary is retained."""
        last_access = self.accesses.last(item)
        since_day: int = item.meta["day"] if last_access is None else last_access
        strength = 1 + self.accesses.times(item)
        return retention(self._day_number() - since_day, strength, self.coefficient, self.forgetting)

    def _is_retained(self, item: Item) -> bool:
        """Return whether an entry is retained now, by a draw with its probability that is the same in each run."""
        probability = self.retention(item)
        if probability >= 1:
            return True
        # Seeded with the source, too, since entries of different episodes have the same ids.
        return uniform_draw(item.entry_id, item.sources[0], self.store.sequence) < probability

    def _day_number(self) -> int:
        return len(self.store.live(DAY))

    def _messages_of_day(self) -> list[Item]:
        """Return the messages since the end of the last day."""
        day_entries = self.store.live(DAY)
        last_order = day_entries[-1].order if day_entries else -1
        return [item for item in self.store.live(MESSAGE) if item.order > last_order]

    def _current_date(self) -> str | None:
        messages = self.store.live(MESSAGE)
        date: str | None = messages[-1].meta["date"] if messages else None
        return date

    def _end_day(self, day: list[Item]) -> list[Item]:
        """End the current day with an entry that dates it. Return its messages."""
        self.store.add(DAY, day[0].meta["date"] or "", sources=())
        return day

    async def _summarize_days(self, days: Sequence[Sequence[Item]]) -> None:
        """Summarize the events and traits of each day, then update the global summary and the portrait."""
        stems = ("day", "traits") if self.portrait == "yes" else ("day",)
        answers = await self.ask_all(
            PromptRequest(stem, {"messages": join_texts(day)}, sources_of(day))
            for stem in stems
            for day in days
        )
        events = _answered_days(days, answers[: len(days)])
        vectors = await self.embed([text for _, text in events], "passage")
        for (day, text), vector in zip(events, vectors, strict=True):
            self.store.add(EVENTS, text, sources=sources_of(day), vector=vector, meta=_day_meta(day))
        traits = _answered_days(days, answers[len(days) :])
        for day, text in traits:
            self.store.add(TRAITS, text, sources=sources_of(day), meta=_day_meta(day))
        updates: list[tuple[str, str, Sequence[Item]]] = []  # prompt, kind of the global entry, daily entries
        if events:
            updates.append(("history", SUMMARY, self._all_days(SUMMARY, EVENTS)))
        if traits:
            updates.append(("portrait", PORTRAIT, self._all_days(PORTRAIT, TRAITS)))
        answers = await self.ask_all(
            PromptRequest(stem, {"days": join_texts(entries)}, sources_of(entries))
            for stem, _, entries in updates
        )
        for (_, kind, entries), answer in zip(updates, answers, strict=True):
            if answer is not None:
                self._replace(kind, answer.text, sources_of(entries))

    def _all_days(self, kind: str, daily: str) -> list[Item]:
        """Return the newest daily entries that fit into a prompt. If some do not fit, the global entry comes first."""
        days = self.store.live(daily)
        newest_days = first_within(days[::-1], LONGEST)[::-1]
        return [*(self.store.live(kind) if len(newest_days) < len(days) else ()), *newest_days]

    def _replace(self, kind: str, text: str, sources: Sequence[str]) -> None:
        if entries := self.store.live(kind):
            self.store.revise(entries[0], text=text, sources=sources)
        else:
            self.store.add(kind, text, sources=sources)


def _answered_days(
    days: Sequence[Sequence[Item]], answers: Sequence[Any]
) -> list[tuple[Sequence[Item], str]]:
    """Return each day that has a non-empty answer, with the dated text of the answer."""
    return [
        (day, with_date(answer.text.strip(), day[0].meta["date"]))
        for day, answer in zip(days, answers, strict=False)
        if answer is not None and answer.text.strip()
    ]


def _day_meta(day: Sequence[Item]) -> dict[str, Any]:
    return {"day": day[0].meta["day"], "date": day[0].meta["date"]}
