"""DialSim: the script of a television show and fan questions about it (A.1.1).

The script has blocks `[Date: September 22, 1994, Session #1]` with lines `Speaker: text`. Questions are DialSim v1.1's
answerable fan quiz with a time, from its pickle, or a JSON list of `question`, `answer` and `date` objects.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks import tv_scripts
from memflow.benchmarks.memorybench.split import fixed_sample
from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Case, CorpusMessage, CorpusSession, Pool, TaskReader
from memflow.benchmarks.published_file import File
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


def read(file: File) -> Iterable[tuple[str, Any]]:
    """Return one record per session of a script, or per question. Raises BadInput."""
    if file.source.endswith(".txt"):
        return tv_scripts.sessions(file)
    return _pickled(file) if file.source.endswith(".pickle") else _own(file)


def _pickled(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    for episode, number, raw in tv_scripts.pickled(file):
        where = f"episode {episode}, scene {number}"
        scene = file.shaped(Scene, raw, where)
        for key, published in tv_scripts.entries(
            file, scene.easy_q.get(QUESTION_TYPE, {}), f"{where}, {QUESTION_TYPE}"
        ):
            quiz = file.shaped(PublishedFanQuestion, published, f"{where}, {QUESTION_TYPE} {key}")
            # Some are published without words, and cannot be asked.
            if words := quiz.questions.get("default", "").strip():
                asked = {"question": words, "answer": quiz.answer, "date": scene.date}
                file.shaped(FanQuestion, asked, f"{where}, {QUESTION_TYPE} {key}")
                yield f"{episode}, scene {number}, {QUESTION_TYPE} {key}", asked


def _own(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    published = file.json()
    if not isinstance(published, list):
        raise file.bad("the file is not a JSON list of questions")
    for number, raw in enumerate(published, start=1):
        file.shaped(FanQuestion, raw, f"question {number}")
        yield f"question {number}", raw


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool, with the script as corpus and the questions as cases."""
    contents = [json.loads(record.content) for record in records]
    found = [Script.model_validate(content) for content in contents if "script" in content]
    asked = [FanQuestion.model_validate(content) for content in contents if "question" in content]
    places = sorted(fixed_sample(range(len(asked)), min(DRAWN_QUESTIONS, len(asked))))
    cases = [
        case(str(place), asked[place].question, asked[place].answer, asked[place].date) for place in places
    ]
    return [Pool(dataset, catalog.task(dataset), cases, corpus(found))]


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


def case(case_id: str, question: str, answer: str, date: str | None) -> Case:
    """Convert a fan question to a case."""
    return Case(case_id=case_id, question=question, gold=answer, revealed=answer, asked_at=date)


READER = TaskReader(read, pools=pools, rows="answerable question with a time")
