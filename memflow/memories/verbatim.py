"""Messages kept word for word, as entries, and shown again as turns before the question.

An entry holds the message's line and its role. When it was said is an entry of its own, of kind `date`,
written where the date changes: so a reader sees each date once, at the start of its session, and a window
never loses it. Which messages are kept and for how long, each memory decides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memflow.chat.requests import ChatMessage, Role
from memflow.memories.entries import EntryStore, Item
from memflow.memories.memory import DATE, Message, Recall
from memflow.tokens import estimate


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message that is held, and the date it was said at, where that is known."""

    item: Item
    date: str | None

    def turn(self, date_before: str | None = None) -> ChatMessage:
        """The message as it was said, below its date where that is news and the words do not say it."""
        role: Role = "assistant" if self.item.role == "assistant" else "user"
        words = self.item.text.removeprefix(f"{role}: ")
        if self.date is not None and self.date != date_before and self.date not in words:
            words = f"[{self.date}]\n{words}"
        return ChatMessage(role, words)

    def note(self) -> str:
        """The message as a line of notes, with its date."""
        return with_date(self.item.text, self.date)


def with_date(line: str, date: str | None) -> str:
    """`[8 May 2023] Caroline: Hey!`: a line that has to stand alone; it is not told its date twice."""
    return line if date is None or date in line else f"[{date}] {line}"


def store_messages(store: EntryStore, messages: Iterable[Message], kind: str) -> None:
    """Write each message as an entry of `kind`. One without a date was said at the date before."""
    newest = store.newest(DATE)
    date = newest.text if newest else None
    for message in messages:
        if message.sent_at is not None and message.sent_at != date:
            date = message.sent_at
            store.add(DATE, date, sources=())
        store.add(kind, message.line(), sources=(message.message_id,), role=message.role)


def stored_messages(store: EntryStore, kind: str) -> list[StoredMessage]:
    """The messages of `kind` that are held, oldest first, with their dates."""
    found, date = [], None
    for item in store.live(DATE, kind):
        if item.kind == DATE:
            date = item.text
        else:
            found.append(StoredMessage(item, date))
    return found


def retire_messages(store: EntryStore, leaving: Iterable[StoredMessage], kind: str) -> None:
    """Retire messages of `kind`, and the dates that date nothing any more; the newest date stays."""
    for message in leaving:
        store.retire(message.item.entry_id)
    before: Item | None = None
    for item in store.live(DATE, kind):
        if before is not None and before.kind == DATE and item.kind == DATE:
            store.retire(before.entry_id)
        before = item


def overflow(held: Sequence[StoredMessage], freq: int, ns: int) -> Sequence[StoredMessage]:
    """The oldest messages of a buffer that holds `freq` + `ns` or more: as many times `freq` as leave `ns`."""
    return held[: max(0, (len(held) - ns) // freq * freq)]


def with_buffer(recall: Recall, held: Sequence[StoredMessage]) -> Recall:
    """What was recalled, and a buffer's messages as turns after it."""
    said, items = as_turns(held), tuple(message.item for message in held)
    return replace(
        recall,
        messages=(*recall.messages, *said),
        entries=(*recall.entries, *items),
        ranking=None if recall.ranking is None else (*recall.ranking, *items),
        injected_tokens=recall.injected_tokens + sum(estimate(turn.content) for turn in said),
    )


def as_turns(messages: Sequence[StoredMessage]) -> tuple[ChatMessage, ...]:
    """The messages as turns, in order, each date shown once."""
    dates = [None, *(message.date for message in messages)]
    return tuple(message.turn(before) for message, before in zip(messages, dates, strict=False))


def newest_within(messages: Sequence[StoredMessage], budget: int) -> Recall:
    """The newest messages that fit into `budget` tokens, as turns; what is left out is counted as dropped."""
    said = as_turns(messages)
    sizes = [estimate(turn.content) for turn in said]
    first, total = len(sizes), 0
    while first > 0 and total + sizes[first - 1] <= budget:
        first -= 1
        total += sizes[first]
    while first < len(messages):
        # The oldest one left may now have to say its date, which the one before it said.
        oldest = messages[first].turn()
        total += estimate(oldest.content) - sizes[first]
        if total <= budget:
            said = (oldest, *said[first + 1 :])
            break
        total -= estimate(oldest.content)
        first += 1
    return Recall(
        messages=said if first < len(messages) else (),
        entries=tuple(message.item for message in messages[first:]),
        injected_tokens=total,
        dropped_tokens=sum(sizes[:first]),
    )
