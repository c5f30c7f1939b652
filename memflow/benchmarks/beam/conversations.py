"""A conversation of BEAM in its published shapes, as batches of exchanges with unique message ids.

In a checkout, a batch has `turns`, which are lists of messages; in rows it is one list. A conversation of 10M tokens is
a list of plans, each in an object of its own. Damage of a batch, a message or a question costs itself.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memflow.benchmarks.beam.types import FULL, OF_PLANS, TRUNCATED, TYPES
from memflow.benchmarks.partial import InvalidPart
from memflow.benchmarks.raw_records import RecordFault

_PLAN = re.compile(r"plan-(\d+)")
_MARKER = re.compile(r"\s*->->[^\n]{0,24}\Z")
_ATOM = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[\[\]{}(),:]""", re.DOTALL)
_MAIN = "main_question"


class BeamMessage(NamedTuple):
    """A message with its published number (of several plans: from the first plan on). `repeat` is 0 if it is unique."""

    number: int
    role: str
    text: str
    repeat: int = 0

    def without_marker(self) -> str:
        """Return the text without the author's mark at its end."""
        return _MARKER.sub("", self.text)


@dataclass(frozen=True)
class Batch:
    """A batch of exchanges. `name` is unique in the conversation, such as `b2` or `p3b1`."""

    name: str
    date: str | None
    exchanges: Sequence[Sequence[BeamMessage]]


@dataclass(frozen=True)
class BeamQuestion:
    """A question with its rubric. `evidence` has the numbers of messages of any shape, in order and once each."""

    question: str
    rubric: tuple[str, ...]
    difficulty: str = ""
    evidence: tuple[int, ...] = ()


class AskedQuestion(NamedTuple):
    """The type and the number of a question within its type, and the question or its fault."""

    kind: str
    number: int
    content: BeamQuestion | InvalidPart


@dataclass(frozen=True)
class BeamConversation:
    """A conversation. `faults` has the places and reasons of damaged parts, and of evidence that is not in the text."""

    name: str
    text: str
    """Which text it is: the slice of its questions."""
    batches: Sequence[Batch]
    questions: Sequence[AskedQuestion]
    faults: Sequence[tuple[str, str]] = field(default=(), repr=False)

    def messages(self) -> Iterator[tuple[Batch, BeamMessage]]:
        """Yield the messages in order, each with its batch."""
        for batch in self.batches:
            for exchange in batch.exchanges:
                for message in exchange:
                    yield batch, message


def read_conversation(content: Mapping[str, Any]) -> BeamConversation:
    """Return the conversation of a record. Raises RecordFault if it has no message or no question."""
    faults = [
        (str(plan), "it is not read, as a plan before it is missing") for plan in content.get("left_out", ())
    ]
    batches = _batches(content.get("chat"), faults)
    questions = read_questions(content.get("probing_questions"))
    if not any(batch.exchanges for batch in batches):
        raise RecordFault("at chat: there is no valid message. Add one, or remove the conversation.")
    if not questions:
        raise RecordFault(
            f"at probing_questions: no question has one of the types {', '.join(TYPES)}. Add one."
        )
    numbers = {message.number for batch in batches for turn in batch.exchanges for message in turn}
    for kind, number, asked in questions:
        place = f"{kind}/{number}"
        if isinstance(asked, InvalidPart):
            faults.append((place, asked.fault))
        elif missing := [str(each) for each in asked.evidence if each not in numbers]:
            faults.append((place, f"its evidence {', '.join(missing)} is not in the text"))
    text = TRUNCATED if content.get("truncated") else OF_PLANS if content.get("in_plans") else FULL
    return BeamConversation(str(content.get("conversation_id")), text, batches, questions, faults)


def read_questions(value: Any) -> list[AskedQuestion]:
    """Return the questions by type, from an object, from JSON, or from a Python literal as in the rows.

    A part of a literal that is no value costs its question. Raises RecordFault if the text has neither form.
    """
    by_type = _literal(value) if isinstance(value, str) else value
    if not isinstance(by_type, Mapping):
        raise RecordFault(
            f"at probing_questions: {value!r:.60} is no object, nor its JSON or Python literal. Fix it."
        )
    found = []
    for kind, items in by_type.items():
        if kind not in TYPES:
            found.append(AskedQuestion(str(kind), 0, InvalidPart(items, f"the type {kind!r} is not known")))
        elif not isinstance(items, Sequence) or isinstance(items, str):
            found.append(AskedQuestion(kind, 0, InvalidPart(items, "there is no list of questions")))
        else:
            found += [AskedQuestion(kind, number, _question(item)) for number, item in enumerate(items)]
    return found


def _question(item: Any) -> BeamQuestion | InvalidPart:
    if isinstance(item, InvalidPart):
        return item
    if not isinstance(item, Mapping):
        return InvalidPart(item, "the question is no object")
    question, rubric = item.get("question"), item.get("rubric")
    if not isinstance(question, str) or not question.strip():
        return InvalidPart(item, "at question: it is empty or no text")
    if not isinstance(rubric, Sequence) or isinstance(rubric, str) or not rubric:
        return InvalidPart(item, "at rubric: it is no list, or empty")
    if not all(isinstance(criterion, str) and criterion.strip() for criterion in rubric):
        return InvalidPart(item, "at rubric: an item is empty or no text")
    numbers = dict.fromkeys(_numbers(item.get("source_chat_ids")))
    return BeamQuestion(question, tuple(rubric), str(item.get("difficulty") or ""), tuple(numbers))


def _numbers(value: Any) -> Iterator[int]:
    """Yield the message numbers in nested lists and objects of any shape."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, str) and value.strip().isdecimal():
        yield int(value)


def _literal(text: str) -> Any:
    """Return the value of JSON or of a Python literal; nothing is evaluated."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    found: dict[str, Any] = {}
    for piece in _pieces(text):
        key, _, items = piece.partition(":")
        if items.strip():
            name = key.strip().strip("'\"")
            found[name] = [_part(item) for item in _pieces(items)]
    return found


def _part(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as wrong:
        return InvalidPart(text, f"it is no Python literal ({str(wrong).partition(' at 0x')[0]})")


def _pieces(text: str) -> Iterator[str]:
    """Yield the parts of a list or dict literal between the commas of its top level."""
    depth, start = 0, 0
    for atom in _ATOM.finditer(text):
        if atom[0] in "[{(":
            depth += 1
            if depth == 1:
                start = atom.end()
        elif atom[0] in "]})":
            depth -= 1
        if (depth == 1 and atom[0] == ",") or (depth == 0 and atom[0] in "]}"):
            if text[start : atom.start()].strip():
                yield text[start : atom.start()]
            start = atom.end()


def _batches(chat: Any, faults: list[tuple[str, str]]) -> list[Batch]:
    """Return the batches of all plans in order. Numbers of a plan that start again follow those of the plan before."""
    if not isinstance(chat, Sequence) or isinstance(chat, str):
        raise RecordFault(
            f"at chat: {chat!r:.60} is not a list of batches. Write it as in the published rows."
        )
    found: list[Batch] = []
    seen: dict[int, int] = {}
    offset, last = 0, -1
    for plan, batches in _plans(chat):
        plan_batches = []
        for position, batch in enumerate(batches, 1):
            place = f"b{position}" if plan is None else f"p{plan}b{position}"
            plan_batches.append((place, *_exchanges(batch, place, faults)))
        numbers = [message.number for *_, turns in plan_batches for turn in turns for message in turn]
        offset = last + 1 if plan is not None and numbers and numbers[0] <= last else 0
        for place, date, turns in plan_batches:
            renumbered = []
            for turn in turns:
                messages = []
                for message in turn:
                    number = message.number + offset
                    repeat = seen[number] = seen.get(number, -1) + 1
                    if repeat:
                        faults.append((place, f"the message id {number} occurs before"))
                    messages.append(BeamMessage(number, message.role, message.text, repeat))
                    last = max(last, number)
                renumbered.append(messages)
            found.append(Batch(place, date, renumbered))
    return found


def _plans(chat: Sequence[Any]) -> Iterator[tuple[int | None, Sequence[Any]]]:
    """Yield the batches of each plan with the plan's number, or those of the only one with None."""
    by_plan = [
        (int(name[1]), batches)
        for item in chat
        if isinstance(item, Mapping)
        for key, batches in item.items()
        if (name := _PLAN.fullmatch(str(key))) and isinstance(batches, Sequence)
    ]
    if by_plan:
        yield from by_plan
    else:
        yield None, chat


def _exchanges(
    batch: Any, place: str, faults: list[tuple[str, str]]
) -> tuple[str | None, list[list[BeamMessage]]]:
    """Return the date and the exchanges of a batch. In a row, an exchange begins with each main question."""
    turns = batch.get("turns") if isinstance(batch, Mapping) else batch
    if not isinstance(turns, Sequence) or isinstance(turns, str):
        faults.append((place, "the batch has no list of turns"))
        return None, []
    date = batch.get("time_anchor") if isinstance(batch, Mapping) else None
    found: list[list[BeamMessage]] = []
    for turn in turns:
        is_list = isinstance(turn, Sequence) and not isinstance(turn, str)
        for position, item in enumerate(turn if is_list else (turn,)):
            message = _message(item)
            if isinstance(message, InvalidPart):
                faults.append((place, message.fault))
                continue
            date = date or item.get("time_anchor")
            starts = position == 0 if is_list else item.get("question_type") == _MAIN
            if starts or not found:
                found.append([])
            found[-1].append(message)
    return (str(date) if date else None), found


def _message(item: Any) -> BeamMessage | InvalidPart:
    if not isinstance(item, Mapping):
        return InvalidPart(item, "a message is no object")
    number, role, text = item.get("id"), item.get("role"), item.get("content")
    if not isinstance(number, int) or isinstance(number, bool):
        return InvalidPart(item, f"the message id {number!r} is no number")
    if role not in ("user", "assistant"):
        return InvalidPart(item, f"the role {role!r} of message {number} is neither user nor assistant")
    if not isinstance(text, str) or not text.strip():
        return InvalidPart(item, f"the content of message {number} is empty or no text")
    return BeamMessage(number, role, text)
