"""The memory bank: what was said, what each day was about, and who the user is (Zhong et al. 2024).

Messages are kept, each with its vector. When a day ends, a model sums up its events and what it shows of the user, and
brings the global summary and the user's portrait up to date from those of all days. The two stand in front of whatever
is recalled: the `k` messages and daily summaries nearest to the query. MemBench has the summaries only: there,
`portrait` is "no".

A day ends where the simulated date changes. Where no date was ever given, it ends after an arrival of more than a round
(a session), and after the arrival with which it holds `day` messages: with `day` = 1 every message is a day, as in
MemBench's code. A day of more than LONGEST tokens is cut, so that a model can read it.

Memories fade by the curve of forgetting.py: t counts the days that have ended since a memory was last recalled, or
written; its strength is 1, and 1 more for every recall that was not frozen. As in MemBench, whether a faded one is
skipped is drawn anew with time, here from a seed and not from chance; no entry is removed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Literal

from memflow.chat.scripted import Handler
from memflow.memories.access import ACCESS, Accesses
from memflow.memories.entries import Item
from memflow.memories.memory import Ask, Calls, Memory, Message, Recall, parameter
from memflow.memories.memory_bank.days import day_of
from memflow.memories.memory_bank.forgetting import drawn, retention
from memflow.memories.memory_bank.scripted import HANDLERS
from memflow.memories.notes import fitting, joined, pieces, recalled
from memflow.memories.search import Dense
from memflow.memories.verbatim import dated
from memflow.tokens import estimate

MESSAGE, EVENTS, TRAITS = "message", "day_summary", "day_portrait"
SUMMARY, PORTRAIT = "summary", "portrait"
DAY = "day"
"""Kind of the entries that end a day: the messages before it, back to the one before, are that day's."""

LONGEST = 4_000
"""Tokens of a day, and of days for a global summary, that a model is shown at once, at most."""


@dataclass
class MemoryBank(Memory):
    """Recalls the nearest messages and daily summaries, behind the global summary and the user's portrait."""

    k: int = parameter(5, "How many messages and daily summaries are recalled (MemEngine's).", low=1)
    budget: int = parameter(
        0, "Tokens that are recalled at most (estimated), summary and portrait first; 0 for no limit."
    )
    day: int = parameter(20, "Messages after which a day without a date ends.", low=1)
    portrait: Literal["yes", "no"] = parameter(
        "yes", "Whether the user is portrayed, by day and in all.", choices=("yes", "no")
    )
    forgetting: Literal["none", "curve", "published_code"] = parameter(
        "curve",
        "Whether memories fade: not at all, by the paper's curve, or by the published code's.",
        choices=("none", "curve", "published_code"),
    )
    coefficient: float = parameter(5.0, "Days in which a memory of strength 1 fades to 37 %.", low=0.1)

    calls: ClassVar[Calls] = Calls(chat_write=4, embed_write=2, embed_read=1, per="message")
    bookkeeping: ClassVar[frozenset[str]] = Memory.bookkeeping | {ACCESS, DAY}
    broad: ClassVar[frozenset[str]] = frozenset({SUMMARY, PORTRAIT})

    def __post_init__(self) -> None:
        self.index = Dense(self.store, MESSAGE, EVENTS)
        self.accesses = Accesses(self.store)

    async def write(self, messages: Sequence[Message]) -> None:
        """Keep them, and sum up the days that end with or before them."""
        arrived = pieces(messages, "message")
        vectors = await self.embed([piece.text for piece in arrived])
        today, date = self._today(), self._date()
        size = sum(estimate(item.text) for item in today)
        ended: list[list[Item]] = []
        for message, piece, vector in zip(messages, arrived, vectors, strict=True):
            before, date = date, day_of(message.sent_at) or date
            more = estimate(piece.text)
            if today and (date != before or size + more > LONGEST):
                ended.append(self._end(today))
                today, size = [], 0
            meta = {"day": self._days(), "date": date}
            item = self.store.add(
                MESSAGE, piece.text, sources=piece.sources, role=piece.role, vector=vector, meta=meta
            )
            today.append(item)
            size += more
        if date is None and (len(messages) > 2 or len(today) >= self.day):
            ended.append(self._end(today))
        if ended:
            await self._sum_up(ended)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Summary and portrait, then what is nearest and not forgotten; one that is not frozen strengthens it."""
        if not self.store.live(MESSAGE):
            return Recall()
        [vector] = await self.embed([query])
        nearest = self.index.search(vector, len(self.store))
        held = list(islice((item for item in nearest if self._remembered(item)), self.k))
        front = [*self.store.live(SUMMARY), *self.store.live(PORTRAIT)]
        room = max(0, self.budget - sum(estimate(item.text) for item in front)) if self.budget else None
        found = recalled(held, room)
        if not frozen:
            self.accesses.note(found.entries, self._days())
        notes = "\n\n".join(part for part in (joined(front), found.notes) if part)
        # The two in front answer to no query, and come from everything: they rank behind what was searched for.
        entries, ranking = (*found.entries, *front), found.ranking and (*found.ranking, *front)
        return Recall(notes, (), entries, estimate(notes), found.dropped_tokens, ranking)

    def retention(self, item: Item) -> float:
        """How likely a message or a daily summary is held now: drawn for, at every read."""
        last = self.accesses.last(item)
        since: int = item.meta["day"] if last is None else last
        strength = 1 + self.accesses.times(item)
        return retention(self._days() - since, strength, self.coefficient, self.forgetting)

    @classmethod
    def handlers(cls) -> Mapping[str, Handler]:
        return HANDLERS

    def _remembered(self, item: Item) -> bool:
        held = self.retention(item)
        # The source too: entries of different episodes have the same ids, and are to be forgotten apart.
        return held >= 1 or drawn(item.entry_id, item.sources[0], self.store.sequence) < held

    def _days(self) -> int:
        """How many days have ended."""
        return len(self.store.live(DAY))

    def _today(self) -> list[Item]:
        """The messages of the day that has not ended."""
        ends = self.store.live(DAY)
        since = ends[-1].order if ends else -1
        return [item for item in self.store.live(MESSAGE) if item.order > since]

    def _date(self) -> str | None:
        """The last date that was given: one without a date was said then."""
        held = self.store.live(MESSAGE)
        date: str | None = held[-1].meta["date"] if held else None
        return date

    def _end(self, day: list[Item]) -> list[Item]:
        self.store.add(DAY, day[0].meta["date"] or "", sources=())
        return day

    async def _sum_up(self, days: Sequence[Sequence[Item]]) -> None:
        """Write what each day was about and shows of the user, and bring up to date what all days say."""
        stems = ("day", "traits") if self.portrait == "yes" else ("day",)
        answers = await self.ask_all(
            Ask(stem, {"messages": joined(day)}, _sources(day)) for stem in stems for day in days
        )
        events = _told(days, answers[: len(days)])
        vectors = await self.embed([text for _, text in events])
        for (day, text), vector in zip(events, vectors, strict=True):
            self.store.add(EVENTS, text, sources=_sources(day), vector=vector, meta=_when(day))
        traits = _told(days, answers[len(days) :])
        for day, text in traits:
            self.store.add(TRAITS, text, sources=_sources(day), meta=_when(day))
        news = [("history", SUMMARY, EVENTS)] if events else []
        news += [("portrait", PORTRAIT, TRAITS)] if traits else []
        shown = [self._all_days(kind, daily) for _, kind, daily in news]
        answers = await self.ask_all(
            Ask(stem, {"days": joined(each)}, _sources(each))
            for (stem, _, _), each in zip(news, shown, strict=True)
        )
        for (_, kind, _), each, answer in zip(news, shown, answers, strict=True):
            if answer is not None:
                self._replace(kind, answer.text, _sources(each))

    def _all_days(self, kind: str, daily: str) -> list[Item]:
        """What the days say, oldest first; for those that do not fit stands what was said of all days before."""
        days = self.store.live(daily)
        shown = fitting(days[::-1], LONGEST)[::-1]
        return [*(self.store.live(kind) if len(shown) < len(days) else ()), *shown]

    def _replace(self, kind: str, text: str, sources: Sequence[str]) -> None:
        if held := self.store.live(kind):
            self.store.revise(held[0], text=text, sources=sources)
        else:
            self.store.add(kind, text, sources=sources)


def _told(days: Sequence[Sequence[Item]], answers: Sequence[Any]) -> list[tuple[Sequence[Item], str]]:
    """The days of which something was told, with their dates before it."""
    return [
        (day, dated(answer.text.strip(), day[0].meta["date"]))
        for day, answer in zip(days, answers, strict=False)
        if answer is not None and answer.text.strip()
    ]


def _when(day: Sequence[Item]) -> dict[str, Any]:
    return {"day": day[0].meta["day"], "date": day[0].meta["date"]}


def _sources(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for item in items for source in item.sources))
