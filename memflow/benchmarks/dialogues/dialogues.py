"""Own dialogues, joined from the rows of their files and validated. Every problem is found, not only the first.

An invalid message, or an invalid dialogue around it, excludes the whole dialogue: a history with a gap would give wrong
answers. An invalid question excludes this question only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from memflow.benchmarks.dialogues.content import OwnDialogue, OwnMessage, OwnQuestion
from memflow.benchmarks.dialogues.files import SourceRow, kind_of
from memflow.benchmarks.dialogues.history import History, unknown
from memflow.benchmarks.dialogues.questions import (
    InvalidQuestion,
    check_metric,
    check_slices,
    declines,
    is_abstention,
    resolve_gold,
)
from memflow.benchmarks.dialogues.schema import (
    MARKS,
    ROWS,
    DialogueFields,
    MessageFields,
    QuestionFields,
    faults,
    time_span,
)
from memflow.benchmarks.own_files import FileProblem


@dataclass(slots=True)
class _Draft:
    """A dialogue while its rows are read: messages and questions with their locations."""

    where: str
    language: str | None = None
    of_line: bool = False
    gap: FileProblem | None = None
    messages: list[tuple[FileProblem, Any]] = field(default_factory=list)
    questions: list[tuple[FileProblem, Any]] = field(default_factory=list)


class _Joiner:
    """Joins rows to dialogues and collects the problems."""

    def __init__(self, dataset: str) -> None:
        self.dataset = dataset
        self.problems: list[FileProblem] = []
        self.drafts: dict[str, _Draft] = {}
        self._latest: tuple[str, _Draft] | None = None
        self._lost: FileProblem | None = None
        self._played: list[str] = []

    def add(self, row: SourceRow) -> None:
        place = FileProblem(row.file, row.where, "")
        if row.fault is not None:
            self._report(place, row.fault)
            self._lose(self.problems[-1])
            return
        kind = kind_of(row.content)
        if kind is None:
            marks = ", ".join(f"`{mark}` (a {each})" for each, mark in MARKS.items())
            self._report(
                place, f"the row is no dialogue, message or question; it needs one of the fields {marks}"
            )
            # It may be a message without a text.
            draft = self.drafts.get(str(row.content.get("dialogue")))
            if draft is None:
                self._lose(self.problems[-1])
            elif not draft.of_line:
                draft.gap = draft.gap or self.problems[-1]
        elif kind == "dialogue":
            self._add_dialogue(place, row.content)
        else:
            self._add_row(kind, place, row.content)

    def _add_dialogue(self, place: FileProblem, content: Mapping[str, Any]) -> None:
        found = self.parsed(DialogueFields, place, content)
        if not isinstance(found, DialogueFields):
            return
        if found.id in self.drafts:
            first = self.drafts[found.id].where
            text = f"the dialogue {found.id!r} occurs twice (first at {first}); rename one of them"
            self._report(replace(place, field="id"), text)
            return
        draft = self.drafts[found.id] = _Draft(
            f"{PurePath(place.file).name}, {place.where}", found.language, of_line=True
        )
        for number, each in enumerate(found.messages, start=1):
            draft.messages.append((replace(place, item=f"message {number}"), each))
        for number, each in enumerate(found.questions, start=1):
            draft.questions.append((replace(place, item=f"question {number}"), each))
        if not found.messages:
            self._report(replace(place, field="messages"), "the dialogue has no messages; add one")

    def _lose(self, problem: FileProblem) -> None:
        """Mark a row that may be a message of the dialogue in the rows around it, which then has a gap."""
        self._lost = problem
        if self._latest is not None and self._latest[0] == problem.file:
            self._latest[1].gap = self._latest[1].gap or problem

    def _add_row(self, kind: str, place: FileProblem, content: Mapping[str, Any]) -> None:
        name = content.get("dialogue")
        try:
            name = ROWS["dialogue"].model_validate({"id": name, "messages": []}).id  # type: ignore[attr-defined]
        except ValidationError:
            self.parsed(ROWS[kind], place, content)  # reports all faults of the row
            if kind == "message":
                self._lose(self.problems[-1])
            return
        draft = self.drafts.get(name)
        if kind == "message" and draft is not None and draft.of_line:
            text = f"the dialogue {name!r} already has its messages at {draft.where}; rename one of the dialogues"
            self._report(replace(place, field="dialogue"), text)
            return
        draft = self.drafts.setdefault(name, _Draft(f"{PurePath(place.file).name}, {place.where}"))
        rest = {key: value for key, value in content.items() if key != "dialogue"}
        if kind == "question":
            draft.questions.append((place, rest))
            self._latest = None
            return
        draft.messages.append((place, rest))
        if self._lost is not None and self._lost.file == place.file:
            draft.gap = draft.gap or self._lost
        self._latest, self._lost = (place.file, draft), None

    def parsed(self, model: type[BaseModel], place: FileProblem, content: Any) -> BaseModel | None:
        """Return the content as an instance of the model, or report its faults and return None."""
        if not isinstance(content, dict):
            self._report(place, "the item is not a JSON object; write it in braces")
            return None
        try:
            return model.model_validate(content)
        except ValidationError as wrong:
            for name, text in faults(wrong, model):
                self._report(replace(place, field=name), text)
            return None

    def joined(self) -> list[OwnDialogue]:
        """Return the dialogues of all rows. Call it after the last row."""
        self._played = [name for name, draft in self.drafts.items() if draft.messages]
        return [self._dialogue(name, draft) for name, draft in self.drafts.items()]

    def _dialogue(self, name: str, draft: _Draft) -> OwnDialogue:
        if not draft.messages:
            text = unknown("dialogue", name, self._played, "the table of messages")
            for place, content in draft.questions if not draft.of_line else ():
                self._report(replace(place, field="dialogue"), text)
                self.parsed(QuestionFields, place, content)
            reason = f"the dialogue {name} has no messages"
            return OwnDialogue(name, self.dataset, (), (), draft.language, reason)
        first = len(self.problems)
        messages = self._messages(draft)
        found = self.problems[first] if len(self.problems) > first else draft.gap
        fault = None if found is None else found.reason
        history = History(messages)
        questions: list[OwnQuestion] = []
        seen: dict[str, FileProblem] = {}
        for number, (place, content) in enumerate(draft.questions, start=1):
            questions.append(self._question(number, place, content, history, seen, whole=fault is None))
        return OwnDialogue(name, self.dataset, messages, tuple(questions), draft.language, fault)

    def _messages(self, draft: _Draft) -> tuple[OwnMessage, ...]:
        found: list[OwnMessage] = []
        seen: dict[str, FileProblem] = {}
        latest: tuple[datetime, FileProblem] | None = None
        for number, (place, content) in enumerate(draft.messages, start=1):
            fields = self.parsed(MessageFields, place, content)
            if not isinstance(fields, MessageFields):
                continue
            name = fields.id or str(number)
            if name in seen:
                text = (
                    f"the message id {name!r} occurs twice (first at {seen[name].place}); rename one of them"
                )
                self._report(replace(place, field="id"), text)
            seen.setdefault(name, place)
            if fields.time is not None:
                start, end = time_span(fields.time)
                if latest is not None and end < latest[0]:
                    text = f"{fields.time} is before the time of an earlier message ({latest[1].place}); order by time"
                    self._report(replace(place, field="time"), text)
                elif latest is None or start > latest[0]:
                    latest = start, place
            found.append(
                OwnMessage(name, fields.text, _role(fields), fields.speaker, fields.time, fields.session)
            )
        return tuple(found)

    def _question(
        self,
        number: int,
        place: FileProblem,
        content: Any,
        history: History,
        seen: dict[str, FileProblem],
        *,
        whole: bool,
    ) -> OwnQuestion:
        first = len(self.problems)
        fields = self.parsed(QuestionFields, place, content)
        given = fields.id if isinstance(fields, QuestionFields) else None
        name = given or f"q{number}"
        if place.item and given:
            place = replace(place, item=f"{place.item} ({given})")
        if name in seen:
            text = f"the question id {name!r} occurs twice (first at {seen[name].place}); rename one of them"
            self._report(replace(place, field="id"), text)
            name = f"{name} ({place.where}, question {number})"
        seen.setdefault(name, place)
        if isinstance(fields, QuestionFields):
            question = self._resolved(name, place, fields, history, whole=whole)
        else:
            question = OwnQuestion(name, QuestionFields.model_construct(question=""))
        if len(self.problems) > first:
            question = replace(question, reason=self.problems[first].reason)
        return question

    def _resolved(
        self, name: str, place: FileProblem, fields: QuestionFields, history: History, *, whole: bool
    ) -> OwnQuestion:
        """Return the question with its gold, its metric and its moment; report what does not fit together."""
        number: int | None = None
        golds: tuple[str, ...] = ()
        try:
            number, golds = resolve_gold(fields)
        except InvalidQuestion as wrong:
            self._report(replace(place, field=wrong.field), str(wrong))
        for check in (check_metric, check_slices):
            try:
                check(fields)
            except InvalidQuestion as wrong:
                self._report(replace(place, field=wrong.field), str(wrong))
        if fields.options:
            abstain = number is not None and declines(fields.options[number - 1])
        else:
            abstain = is_abstention(fields)
        visible, asked_at = len(history.messages), None
        # A dialogue with an invalid message has gaps, so its positions are not checked.
        if whole:
            try:
                visible = history.visible(fields)
                history.check_evidence(fields, visible)
            except InvalidQuestion as wrong:
                self._report(replace(place, field=wrong.field), str(wrong))
            asked_at = fields.date or history.time_at(visible)
        return OwnQuestion(name, fields, number, golds, abstain, visible, asked_at)

    def _report(self, place: FileProblem, text: str) -> None:
        self.problems.append(replace(place, text=text))


def _role(fields: MessageFields) -> Literal["user", "assistant"]:
    if fields.role is not None:
        return fields.role
    return "assistant" if (fields.speaker or "").casefold() == "assistant" else "user"


def join_rows(dataset: str, rows: Iterable[SourceRow]) -> tuple[list[OwnDialogue], list[FileProblem]]:
    """Return the dialogues of all rows of a data set, and the problems in the order of the files."""
    joiner = _Joiner(dataset)
    order: dict[tuple[str, str], int] = {}
    for row in rows:
        order.setdefault((row.file, row.where), len(order))
        joiner.add(row)
    dialogues = joiner.joined()
    problems = sorted(joiner.problems, key=lambda each: order[each.file, each.where])
    return dialogues, problems
