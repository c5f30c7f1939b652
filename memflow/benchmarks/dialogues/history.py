"""The messages of a dialogue by id, session and time, and the moments of questions among them."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from memflow.benchmarks.dialogues.content import OwnMessage
from memflow.benchmarks.dialogues.questions import InvalidQuestion
from memflow.benchmarks.dialogues.schema import QuestionFields, time_span
from memflow.suggestions import unknown_name

EARLIEST = datetime.min.replace(tzinfo=UTC)
MOST_COMPARED = 500
"""Names among which similar ones are searched; the search in more takes seconds."""


class History:
    """The messages of a dialogue by id, session and time."""

    def __init__(self, messages: Sequence[OwnMessage]) -> None:
        self.messages = messages
        self._places = {each.message_id: place for place, each in enumerate(messages)}
        self._sessions = {
            each.session: place for place, each in enumerate(messages) if each.session is not None
        }
        self._starts: list[datetime] = []
        for each in messages:
            start = EARLIEST if each.time is None else time_span(each.time)[0]
            self._starts.append(max(start, self._starts[-1] if self._starts else EARLIEST))

    def visible(self, fields: QuestionFields) -> int:
        """Return the number of messages before a question. Raises InvalidQuestion."""
        given = [name for name in ("after", "session", "date") if getattr(fields, name) is not None]
        if len(given) > 1:
            raise InvalidQuestion(given[1], f"{' and '.join(given)} are given; keep one of them")
        if fields.after is not None:
            return self._place(fields.after, "after") + 1
        if fields.session is not None:
            if fields.session not in self._sessions:
                known = [str(session) for session in self._sessions]
                raise InvalidQuestion("session", unknown("session", fields.session, known, "the dialogue"))
            return self._sessions[fields.session] + 1
        if fields.date is None:
            return len(self.messages)
        if all(message.time is None for message in self.messages):
            raise InvalidQuestion("date", "no message of the dialogue has a time; use `after` or `session`")
        found = bisect_right(self._starts, time_span(fields.date)[1])
        if not found:
            raise InvalidQuestion("date", f"{fields.date} is before the first message; use a later date")
        return found

    def check_evidence(self, fields: QuestionFields, visible: int) -> None:
        """Raise InvalidQuestion unless the evidence exists and comes before the question."""
        for each in fields.evidence:
            if self._place(each, "evidence") >= visible:
                last = self.messages[visible - 1].message_id
                raise InvalidQuestion(
                    "evidence",
                    f"message {each!r} comes after message {last!r}, after which the question is asked; remove it, or "
                    "ask the question later",
                )

    def time_at(self, visible: int) -> str | None:
        """Return the time of the last message before a question, or None without times."""
        times = (self.messages[place].time for place in range(visible - 1, -1, -1))
        return next((time for time in times if time is not None), None)

    def _place(self, name: str, of: str) -> int:
        if name not in self._places:
            raise InvalidQuestion(of, unknown("message", name, self._places, "the dialogue"))
        return self._places[name]


def unknown(kind: str, name: str, known: Collection[str], owner: str) -> str:
    """Return the message for an unknown name, with similar names unless there are very many."""
    if len(known) <= MOST_COMPARED:
        return unknown_name(kind, name, known, owner=owner)
    return f"{owner} has no {kind} {name!r}. It has {len(known):,} others, such as {next(iter(known))!r}"
