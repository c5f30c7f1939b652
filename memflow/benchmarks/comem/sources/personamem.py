"""Reader of PersonaMem v1: dialogues of a user and an assistant over years, with questions in the course of a dialogue.

Section 3.2.1 of the paper describes this data set. `contexts` joins the table of questions with the file of shared
contexts (32k, 128k or 1M tokens). A system message states the user's persona and begins a session. The parameter
`persona` attributes this message to the speaker "Persona", or omits it.

Contexts without questions (50 of the 110 with 128k tokens) are not used. A question without a context is dropped. A
question is quarantined if its gold option occurs twice, or if it precedes the first or follows the last message.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, RootModel

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.benchmarks.datasets import Contents
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.models import PublishedModel, StrictModel
from memflow.benchmarks.packaged import load_toml
from memflow.benchmarks.published_file import File, Said, valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.errors import BadInput
from memflow.records import Record

_TYPES = load_toml(__package__, "personamem.toml")
CATEGORIES: tuple[str, ...] = _TYPES["types"]
ALIASES: Mapping[str, str] = _TYPES["aliases"]
"""The names of question types in the 32k and 1M files and in the published code, for those of the 128k file."""
PERSONA = "Persona"
"""Speaker of the system messages."""
OPTIONS = 4
LONGEST = 20_000
"""Maximum length of a list of options, in characters: six times the longest of the 32k file."""

Name = Annotated[str, Field(pattern=r"^[^/\s]+$", max_length=200)]

_MARK = re.compile(r"(User|Assistant|Patient|Therapist):\s*")
_ROLES = {"User": "user", "Assistant": "assistant"}


def _category(name: str) -> str:
    found = ALIASES.get(name, name)
    if found not in CATEGORIES:
        raise ValueError(
            f"{name!r} is an unknown question type; use one of {', '.join((*CATEGORIES, *ALIASES))}"
        )
    return found


def _options(written: str) -> tuple[str, ...]:
    """Return the options in a Python list literal, without their letters."""
    if len(written) > LONGEST:
        raise ValueError(
            f"the list of options has {len(written):,} characters; the maximum is {LONGEST:,}. Shorten it."
        )
    try:
        listed = ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as wrong:
        raise ValueError(
            f"{written:.50} is not a Python list of texts ({type(wrong).__name__}). Fix the list."
        ) from wrong
    if not isinstance(listed, list) or len(listed) != OPTIONS:
        count = len(listed) if isinstance(listed, list) else 0
        raise ValueError(
            f"the list of options has the length {count} instead of {OPTIONS}. Fix all_options in this row."
        )
    found = []
    for letter, option in zip("abcd", listed, strict=True):
        mark = f"({letter}) "
        if not isinstance(option, str) or not option.startswith(mark) or not option[len(mark) :].strip():
            raise ValueError(
                f"option {letter} is empty or does not start with {mark.strip()}; write `{mark}TEXT`"
            )
        # Options are shown one per line; one of the 32k file has several lines.
        found.append(" ".join(option[len(mark) :].split()))
    return tuple(found)


class PersonaMemQuestion(PublishedModel):
    """A row of the table of questions. Other columns are ignored."""

    question_id: Name
    question_type: Annotated[str, AfterValidator(_category)]
    user_question_or_message: Said
    correct_answer: Literal["(a)", "(b)", "(c)", "(d)"]
    all_options: Annotated[tuple[str, ...], BeforeValidator(_options)]
    shared_context_id: Name
    end_index_in_shared_context: int

    @property
    def answer(self) -> int:
        """The number of the gold option. Options are numbered from 1."""
        return 1 + "abcd".index(self.correct_answer[1])


class PersonaMemMessage(StrictModel):
    """A published message. Users and assistants do not always alternate."""

    role: Literal["system", "user", "assistant"]
    content: str


Messages = Annotated[list[PersonaMemMessage], Field(min_length=1)]


class SharedContext(RootModel[Annotated[dict[Name, Messages], Field(min_length=1, max_length=1)]]):
    """A line of the file of contexts: one context by id."""


def read(file: File) -> Iterator[RawRecord]:
    """Return one record per question or per context. Raises BadInput."""
    records = _questions(file) if file.source.endswith(".csv") else parse_records(file.lines(), _shared)
    return file.some(records, "questions or shared contexts")


def _questions(file: File) -> Iterator[RawRecord]:
    columns = set(file.csv_header())
    if {"question", "shared_context_id"} <= columns and not set(PersonaMemQuestion.model_fields) <= columns:
        raise file.bad("the columns are those of a pre-release version, which is not supported")
    rows = file.csv_rows(*PersonaMemQuestion.model_fields)
    return parse_records(rows, validated(PersonaMemQuestion, "question_id"))


def _shared(content: Any) -> tuple[str, Any]:
    return next(iter(SharedContext.model_validate(content).root)), content


def contexts(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[Context]:
    """Return one context for each context id that has questions, in the order of the questions.

    Contexts without messages come last, and their questions are dropped. Raises BadInput if the files do not match.
    """
    published, asked = _by_context(records)
    dataset = records[0].dataset
    there = [name for name in asked if name in published]
    if not there:
        raise BadInput(
            f"{dataset}: the files of questions and contexts do not match: none of the {len(asked)} "
            f"contexts of the questions is among the {len(published)} shared contexts. Get "
            "questions_* and shared_contexts_* of the same size."
        )
    why = f"its messages are missing: {len(there)} of the {len(asked)} contexts are present"
    return [_context(published[name], asked[name], config) for name in there] + [
        Context(name, dataset, (), tuple(_without_context(each, why) for each in held))
        for name, held in asked.items()
        if name not in published
    ]


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of contexts, messages and questions, and the quarantined questions."""
    published, asked = _by_context(valid_records(records))
    found = [
        _context(record, asked[name], CoMemConfig()) for name, record in published.items() if name in asked
    ]
    return Contents(
        {
            "contexts": sum(not _asks(record) for record in records),
            "messages": sum(len(_messages(record)) for record in published.values()),
            "questions": sum(_asks(record) for record in records),
        },
        [
            (context.question_id(question), question.reason)
            for context in found
            for question in context.questions
            if question.reason is not None
        ],
    )


def _by_context(
    records: Sequence[Record],
) -> tuple[dict[str, Record], dict[str, list[PersonaMemQuestion]]]:
    """Return the record of each shared context, and the questions of each context, by context id."""
    asked: dict[str, list[PersonaMemQuestion]] = {}
    for record in records:
        if _asks(record):
            question = PersonaMemQuestion.model_validate_json(record.content)
            asked.setdefault(question.shared_context_id, []).append(question)
    return {record.record_id: record for record in records if not _asks(record)}, asked


def _messages(record: Record) -> list[PersonaMemMessage]:
    return SharedContext.model_validate_json(record.content).root[record.record_id]


def _asks(record: Record) -> bool:
    return record.source.endswith(".csv")


def _without_context(question: PersonaMemQuestion, why: str) -> ContextQuestion:
    end = question.end_index_in_shared_context
    return replace(_context_question(question, 1, max(1, end)), dropped=why)


def _context(record: Record, asked: Sequence[PersonaMemQuestion], config: CoMemConfig) -> Context:
    messages = _messages(record)
    kept = [config.persona == "interleaved" or message.role != "system" for message in messages]
    return Context(
        record.record_id,
        record.dataset,
        tuple(line for line, keep in zip(_lines(messages), kept, strict=True) if keep),
        tuple(
            _context_question(each, sum(kept[: max(0, each.end_index_in_shared_context)]), len(messages))
            for each in asked
        ),
    )


def _lines(messages: Sequence[PersonaMemMessage]) -> Iterator[ContextMessage]:
    session = -1
    for message in messages:
        session = max(0, session + (message.role == "system"))
        if message.role == "system":
            yield ContextMessage(message.content, "user", PERSONA, session)
            continue
        speaker, text = _unmarked(message.role, message.content)
        yield ContextMessage(
            text,
            message.role,
            speaker,
            session,
            reason=None if text.strip() else "it is empty",
        )


def _unmarked(role: str, text: str) -> tuple[str | None, str]:
    """Return the speaker that the text marks and the text without the mark.

    The speaker is None if no speaker is marked, or if the mark states a role.
    """
    mark = _MARK.match(text)
    if mark is None or _ROLES.get(mark[1], role) != role:
        return None, text
    return None if mark[1] in _ROLES else mark[1], text[mark.end() :]


def _context_question(question: PersonaMemQuestion, end: int, messages: int) -> ContextQuestion:
    options, answer, reason = question.all_options, question.answer, None
    twins = [letter for letter, option in zip("abcd", options, strict=True) if option == options[answer - 1]]
    if question.end_index_in_shared_context > messages:
        reason = (
            f"its end is message {question.end_index_in_shared_context} of a context with {messages} messages: "
            "get questions_* and shared_contexts_* of the same size"
        )
    elif end < 1:
        reason = f"no message precedes it: its end is {question.end_index_in_shared_context}"
    elif len(twins) > 1:
        reason = f"its gold option occurs {len(twins)} times, as {' and '.join(twins)}"
    return ContextQuestion(
        question.question_id,
        _unmarked("user", question.user_question_or_message)[1],
        options,
        answer,
        question.question_type,
        end=end,
        reason=reason,
    )
