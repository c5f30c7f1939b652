"""Storage of messages word for word as entries, and their return as chat turns before the question.

An entry contains the message's line and role. Before each change of date, an entry of kind `date` is added.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memflow.chat.requests import ChatMessage, Role
from memflow.memories.entries import EntryStore, Item
from memflow.memories.memory import DATE, Message, Recall
from memflow.tokens import estimate


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A stored message and its date, if known."""

    item: Item
    date: str | None

    def turn(self, date_before: str | None = None) -> ChatMessage:
        """Return the message as a chat turn.

        The message's date precedes the text, unless the date equals `date_before` or is in the text.
        """
        role: Role = "assistant" if self.item.role == "assistant" else "user"
        text = self.item.text.removeprefix(f"{role}: ")
        if self.date is not None and self.date != date_before and self.date not in text:
            text = f"[{self.date}]\n{text}"
        return ChatMessage(role, text)

    def note(self) -> str:
        """Return the message as a line of notes, with its date in front unless the line contains the date."""
        return with_date(self.item.text, self.date)


def with_date(line: str, date: str | None) -> str:
    """Return a line with its date in front, `[8 May 2023] Caroline: Hey!`, unless the line contains the date."""
    return line if date is None or date in line else f"[{date}] {line}"


def store_messages(store: EntryStore, messages: Iterable[Message], kind: str) -> None:
    """Add each message as an entry of `kind`, after an entry of kind DATE whenever the date changes.

    A message without a date therefore stays under the last date.
    """
    last_date_entry = store.newest(DATE)
    date = last_date_entry.text if last_date_entry else None
    for message in messages:
        if message.sent_at is not None and message.sent_at != date:
            date = message.sent_at
            store.add(DATE, date, sources=())
        store.add(kind, message.line(), sources=(message.message_id,), role=message.role)


def stored_messages(store: EntryStore, kind: str) -> list[StoredMessage]:
    """Return the live messages of `kind` with their dates, oldest first."""
    messages, date = [], None
    for item in store.live(DATE, kind):
        if item.kind == DATE:
            date = item.text
        else:
            messages.append(StoredMessage(item, date))
    return messages


def retire_messages(store: EntryStore, messages: Iterable[StoredMessage], kind: str) -> None:
    """Retire messages of `kind`, and date entries without remaining messages, except the newest date entry."""
    for message in messages:
        store.retire(message.item.entry_id)
    previous_item: Item | None = None
    for item in store.live(DATE, kind):
        if previous_item is not None and previous_item.kind == DATE and item.kind == DATE:
            store.retire(previous_item.entry_id)
        previous_item = item


def overflow(buffer: Sequence[StoredMessage], freq: int, ns: int) -> Sequence[StoredMessage]:
    """Return the oldest messages, which leave the buffer; empty for fewer than `freq` + `ns` messages.

    The number of returned messages is the largest multiple of `freq` that leaves at least `ns` messages.
    """
    return buffer[: max(0, (len(buffer) - ns) // freq * freq)]


def with_buffer(recall: Recall, buffer: Sequence[StoredMessage]) -> Recall:
    """Return a copy of a Recall with the messages of a buffer as chat turns, and their entries last."""
    turns, items = as_turns(buffer), tuple(message.item for message in buffer)
    return replace(
        recall,
        messages=(*recall.messages, *turns),
        entries=(*recall.entries, *items),
        ranking=None if recall.ranking is None else (*recall.ranking, *items),
        injected_tokens=recall.injected_tokens + sum(estimate(turn.content) for turn in turns),
    )


def as_turns(messages: Sequence[StoredMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages as chat turns in order, each date once."""
    dates = [None, *(message.date for message in messages)]
    return tuple(message.turn(date_before) for message, date_before in zip(messages, dates, strict=False))


def newest_within(messages: Sequence[StoredMessage], budget: float, per_message: float = 0) -> Recall:
    """Return a Recall of the newest messages that fit into `budget` tokens, as chat turns, without older messages.

    The budget may be `math.inf`. Each message needs `per_message` tokens of it beside those of its text.
    """
    turns = as_turns(messages)
    sizes = [estimate(turn.content) for turn in turns]
    first_index, total = len(sizes), 0
    while first_index > 0 and total + sizes[first_index - 1] + per_message <= budget:
        first_index -= 1
        total += sizes[first_index]
        budget -= per_message
    while first_index < len(messages):
        # The oldest remaining message may now need its date, which a dropped message before it had.
        oldest_turn = messages[first_index].turn()
        total += estimate(oldest_turn.content) - sizes[first_index]
        if total <= budget:
            turns = (oldest_turn, *turns[first_index + 1 :])
            break
        total -= estimate(oldest_turn.content)
        first_index += 1
    return Recall(
        messages=turns if first_index < len(messages) else (),
        entries=tuple(message.item for message in messages[first_index:]),
        injected_tokens=total,
        dropped_tokens=sum(sizes[:first_index]),
        dropped_messages=first_index,
    )
