"""DialSim: the script of a television show and fan questions about it (A.1.1).

The script has blocks `[Date: September 22, 1994, Session #1]` with lines `Speaker: text`. Questions are DialSim v1.1's
answerable fan quiz with a time, from its pickle, or a JSON list of `question`, `answer` and `date` objects.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks import tv_scripts
from memflow.benchmarks.memorybench.split import fixed_sample
from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import (
    CorpusMessage,
    CorpusSession,
    Pool,
    TaskReader,
    answered_case,
    cases_of,
)
from memflow.benchmarks.published_file import File, valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.benchmarks.tv_scripts import Script, Text
from memflow.records import Record

CHATBOTS = {f"dialsim_{show}": name for show, name in tv_scripts.CHATBOTS.items()}
"""The character that the assistant plays, by data set."""
QUESTION_TYPE = "ans_w_time"
"""DialSim's type of answerable fan questions with a time."""
DRAWN_QUESTIONS = 300
"""Questions per show drawn before sampling, in file order (paper, Tables 8 and 9)."""


class FanQuestion(BaseModel):
    """A fan question in neutral wording, with its answer and date."""

    question: Text
    answer: Text
    date: Text


class PublishedFanQuestion(BaseModel):
    """A fan question of the pickle, in each speaker's wording and in neutral wording."""

    questions: dict[str, str]
    answer: str


class Scene(BaseModel):
    """A scene of the pickle with its fan questions. Temporal-graph questions are ignored."""

    date: Text
    easy_q: dict[str, Any]


def read(file: File) -> Iterable[RawRecord]:
    """Return one record per session of a script, or per question. Raises BadInput."""
    if file.source.endswith(".txt"):
        return tv_scripts.sessions(file)
    if file.source.endswith(".pickle"):
        return _pickled(file)
    asked = (replace(item, record_id=item.where) for item in file.json_items("question", start=1))
    return parse_records(asked, validated(FanQuestion))


def _pickled(file: File) -> Iterator[RawRecord]:
    for raw in parse_records(tv_scripts.pickled(file), validated(Scene)):
        if raw.fault is not None:
            yield raw
            continue
        scene = Scene.model_validate(raw.content)
        asked = tv_scripts.entries(raw, QUESTION_TYPE, scene.easy_q.get(QUESTION_TYPE, {}))
        yield from parse_records(asked, partial(_question, scene.date))


def _question(date: str, content: Any) -> tuple[str, Any] | None:
    quiz = PublishedFanQuestion.model_validate(content)
    words = quiz.questions.get("default", "").strip()
    if not words:  # Some are published without words, and cannot be asked.
        return None
    asked = {"question": words, "answer": quiz.answer, "date": date}
    FanQuestion.model_validate(asked)
    return "", asked


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool, with the script as corpus and the questions as cases."""
    sessions = [record for record in records if record.source.endswith(".txt")]
    asked = cases_of(
        FanQuestion,
        [record for record in records if not record.source.endswith(".txt")],
        lambda place, _, row: answered_case(str(place), row.question, row.answer, asked_at=row.date),
    )
    places = sorted(fixed_sample(range(len(asked)), min(DRAWN_QUESTIONS, len(asked))))
    found = corpus(Script.model_validate_json(record.content) for record in valid_records(sessions))
    return [Pool(dataset, catalog.task(dataset), [asked[place] for place in places], found)]


def corpus(sessions: Iterable[Script]) -> tuple[CorpusSession, ...]:
    """Return the sessions in the format that a memory receives."""
    return tuple(
        CorpusSession(
            script.date,
            tuple(
                CorpusMessage(f"D{script.session}:{said.line}", said.speaker, said.text)
                for said in script.utterances()
            ),
        )
        for script in sessions
    )


READER = TaskReader(read, pools=pools, rows="answerable question with a time")
