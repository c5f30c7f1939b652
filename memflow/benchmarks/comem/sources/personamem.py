"""PersonaMem v1: a user's talk with an assistant over years, and what is asked at places of it (paper, section 3.2.1).

A table of questions and a file of shared contexts, of 32k, 128k or 1M tokens, are read apart and joined in `contexts`.
Records hold what is published; what is said here is what becomes of it:

Each system message tells the user's persona and begins a session. It stays where it stands, as said by "Persona", or is
left out (`persona`), with the counts of what comes after it.

Contexts that nothing is asked of (50 of 110 of 128k) are not played. A question of a context that is not there, as in a
part of the files, is left out (curation/keys.py tells it). Two kinds of question are published that cannot be judged,
and are quarantined: those whose right option stands there twice, and those that no message comes before.
"""

import ast
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, RootModel

from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Asked, Context, Line
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File, Said
from memflow.errors import BadInput
from memflow.records import Record

CATEGORIES = (
    "recall_user_shared_facts",
    "suggest_new_ideas",
    "acknowledge_latest_user_preferences",
    "track_full_preference_evolution",
    "revisit_reasons_behind_preference_updates",
    "provide_preference_aligned_recommendations",
    "generalize_to_new_scenarios",
)
"""The seven types of question, as the 128k file calls them."""
ALIASES = {
    "recalling_facts_mentioned_by_the_user": "recall_user_shared_facts",
    "acknowledge_latest_preferences": "acknowledge_latest_user_preferences",
    "track_full_preference_updates": "track_full_preference_evolution",
    "recalling_the_reasons_behind_previous_updates": "revisit_reasons_behind_preference_updates",
    "generalizing_to_new_scenarios": "generalize_to_new_scenarios",
}
"""What the files of 32k and 1M, and the code that wrote them, call these types besides."""
PERSONA = "Persona"
"""Who says the system messages."""
OPTIONS = 4
LONGEST = 20_000
"""Characters of a list of options: six times the longest of the 32k file."""

Name = Annotated[str, Field(pattern=r"^[^/\s]+$", max_length=200)]

_MARK = re.compile(r"(User|Assistant|Patient|Therapist):\s*")
_ROLES = {"User": "user", "Assistant": "assistant"}


def _category(name: str) -> str:
    found = ALIASES.get(name, name)
    if found not in CATEGORIES:
        raise ValueError(f"{name!r} is no type of question: {', '.join((*CATEGORIES, *ALIASES))}")
    return found


def _options(written: str) -> tuple[str, ...]:
    """The options of a list that is written as a literal of Python, without their letters."""
    if len(written) > LONGEST:
        raise ValueError(f"the list has {len(written):,} characters, over {LONGEST:,}")
    try:
        listed = ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as wrong:
        raise ValueError(f"it is no list of texts ({type(wrong).__name__})") from wrong
    if not isinstance(listed, list) or len(listed) != OPTIONS:
        raise ValueError(f"it is no list of {OPTIONS} options")
    found = []
    for letter, option in zip("abcd", listed, strict=True):
        mark = f"({letter}) "
        if not isinstance(option, str) or not option.startswith(mark) or not option[len(mark) :].strip():
            raise ValueError(f"option {letter} does not begin with {mark.strip()}, or says nothing")
        # Options are shown one a line; one of the 32k file goes over several.
        found.append(" ".join(option[len(mark) :].split()))
    return tuple(found)


class Question(BaseModel):
    """A row of the table of questions; columns that only describe how it was made are not looked at."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    question_id: Name
    question_type: Annotated[str, AfterValidator(_category)]
    user_question_or_message: Said
    correct_answer: Literal["(a)", "(b)", "(c)", "(d)"]
    all_options: Annotated[tuple[str, ...], BeforeValidator(_options)]
    shared_context_id: Name
    end_index_in_shared_context: int

    @property
    def answer(self) -> int:
        """The right option's number, from 1."""
        return 1 + "abcd".index(self.correct_answer[1])


class Message(BaseModel):
    """A message as published. Users and assistants do not always take turns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["system", "user", "assistant"]
    content: str


Messages = Annotated[list[Message], Field(min_length=1)]


class Shared(RootModel[Annotated[dict[Name, Messages], Field(min_length=1, max_length=1)]]):
    """A line of the file of contexts: one context under its id."""


def read(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """A record per question, by its id, or per context, by its id. Raises BadInput."""
    return _questions(file) if file.source.endswith(".csv") else _shared(file)


def _questions(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = csv.DictReader(io.StringIO(file.text(), newline=""))
    try:
        columns = set(rows.fieldnames or ())
        lacking = [name for name in Question.model_fields if name not in columns]
        if lacking and {"question", "shared_context_id"} <= columns:
            raise file.bad("it is in the layout from before the release, which is not read")
        if lacking:
            raise file.bad(f"its first line does not name the columns {', '.join(lacking)}")
        empty = True
        for row in rows:
            where = f"line {rows.line_num}"
            if None in row or None in row.values():
                raise file.bad(f"{where} has not as many fields as the first line names")
            yield file.shaped(Question, row, where).question_id, row
            empty = False
    except csv.Error as wrong:
        raise file.bad(f"line {rows.line_num + 1} is no CSV ({wrong})") from wrong
    if empty:
        raise file.bad("it has no questions")


def _shared(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    empty = True
    for raw, shared in file.lines(Shared):
        yield next(iter(shared.root)), raw
        empty = False
    if empty:
        raise file.bad("it has no contexts")


def contexts(domain: Domain, records: Sequence[Record], parameters: Parameters) -> list[Context]:
    """A context for each that something is asked of, in the order of its first question; those whose messages are not
    there stand last, and drop their questions. Raises BadInput where files do not belong together."""
    asked: dict[str, list[Question]] = {}
    published = {record.record_id: record for record in records if not record.source.endswith(".csv")}
    for record in records:
        if record.source.endswith(".csv"):
            question = Question.model_validate_json(record.content)
            asked.setdefault(question.shared_context_id, []).append(question)
    dataset = records[0].dataset
    there = [name for name in asked if name in published]
    if not there:
        raise BadInput(
            f"{dataset}: none of the {len(asked)} contexts that questions are asked of is among the {len(published)} "
            "shared contexts; get questions_* and shared_contexts_* of the same size"
        )
    why = f"its messages are not there: {len(there)} of the {len(asked)} contexts that are asked of are"
    return [_context(published[name], asked[name], parameters) for name in there] + [
        Context(name, dataset, (), tuple(replace(_asked(each, 1), dropped=why) for each in held))
        for name, held in asked.items()
        if name not in published
    ]


def _context(record: Record, asked: Sequence[Question], parameters: Parameters) -> Context:
    messages = Shared.model_validate_json(record.content).root[record.record_id]
    for question in asked:
        if question.end_index_in_shared_context > len(messages):
            raise BadInput(
                f"{record.dataset}: question {question.question_id} ends at message "
                f"{question.end_index_in_shared_context} of {record.source}, context {record.record_id}, which has "
                f"{len(messages)}; get questions_* and shared_contexts_* of the same size"
            )
    kept = [parameters.persona == "interleaved" or each.role != "system" for each in messages]
    return Context(
        record.record_id,
        record.dataset,
        tuple(line for line, keep in zip(_lines(messages), kept, strict=True) if keep),
        tuple(_asked(each, sum(kept[: max(0, each.end_index_in_shared_context)])) for each in asked),
    )


def _lines(messages: Sequence[Message]) -> Iterator[Line]:
    session = -1
    for message in messages:
        session = max(0, session + (message.role == "system"))
        if message.role == "system":
            yield Line(message.content, "user", PERSONA, session)
            continue
        speaker, text = _unmarked(message.role, message.content)
        yield Line(
            text,
            message.role,
            speaker,
            session,
            reason=None if text.strip() else "nothing is said in it",
        )


def _unmarked(role: str, text: str) -> tuple[str | None, str]:
    """Who says it, where that is more than its role, and the text without the mark that tells it."""
    mark = _MARK.match(text)
    if mark is None or _ROLES.get(mark[1], role) != role:
        return None, text
    return None if mark[1] in _ROLES else mark[1], text[mark.end() :]


def _asked(question: Question, end: int) -> Asked:
    options, answer, reason = question.all_options, question.answer, None
    twins = [letter for letter, option in zip("abcd", options, strict=True) if option == options[answer - 1]]
    if end < 1:
        reason = f"no message comes before it: its end is {question.end_index_in_shared_context}"
    elif len(twins) > 1:
        reason = f"its right option stands there {len(twins)} times, as {' and '.join(twins)}"
    return Asked(
        question.question_id,
        _unmarked("user", question.user_question_or_message)[1],
        options,
        answer,
        question.question_type,
        end=end,
        reason=reason,
    )
