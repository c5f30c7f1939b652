"""MemoryOS's short-term memory: the newest pages word for word.

A page is a user message and the assistant's reply, if both arrive together. Any other message is a page by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memflow.chat.requests import ChatMessage
from memflow.memories.entries import EntryStore, Item
from memflow.memories.memory import Message
from memflow.memories.verbatim import StoredMessage, as_turns

SHORT = "page_short"


def pair_messages(messages: Iterable[Message]) -> list[list[Message]]:
    """Return the messages as pages, in order."""
    pages: list[list[Message]] = []
    for message in messages:
        follows_user = bool(pages) and [part.role for part in pages[-1]] == ["user"]
        if message.role == "assistant" and follows_user:
            pages[-1].append(message)
        else:
            pages.append([message])
    return pages


def store_pages(store: EntryStore, messages: Iterable[Message]) -> None:
    """Add each page as an entry. A message without a date gets the date of the message before it."""
    last_pages = store.live(SHORT)[-1:]
    date = last_pages[0].meta["halves"][-1]["date"] if last_pages else None
    for page in pair_messages(messages):
        layout = []  # role, length and date of each message, to cut the text of the page
        for message in page:
            if message.sent_at is not None:
                date = message.sent_at
            layout.append({"role": message.role, "length": len(message.line()), "date": date})
        text = "\n".join(message.line() for message in page)
        store.add(SHORT, text, sources=[message.message_id for message in page], meta={"halves": layout})


def page_messages(page: Item) -> list[StoredMessage]:
    """Return the messages of a short-term page, each with its line, role and date."""
    messages, start = [], 0
    for part in page.meta["halves"]:
        end = start + part["length"]
        line = replace(page, text=page.text[start:end], role=part["role"])
        messages.append(StoredMessage(line, part["date"]))
        start = end + 1  # after the line break
    return messages


def page_text(page: Item) -> str:
    """Return the text of a page for mid-term memory: its lines, each preceded by its date if the date changes."""
    lines, last_date = [], None
    for message in page_messages(page):
        lines.append(message.item.text if message.date == last_date else message.note())
        last_date = message.date
    return "\n".join(lines)


def page_date(page: Item) -> str | None:
    """Return the date of a page's last message; None if no message so far has a date."""
    date: str | None = page.meta["halves"][-1]["date"]
    return date


def page_turns(pages: Sequence[Item]) -> tuple[ChatMessage, ...]:
    """Return the messages of short-term pages as chat turns."""
    return as_turns([message for page in pages for message in page_messages(page)])
