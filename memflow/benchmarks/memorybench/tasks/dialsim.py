"""DialSim: a television show's script, and fans' questions about it (A.1.1).

The script is MemoryBench's copy: blocks of `[Date: September 22, 1994, Session #1]` and lines of `Speaker: text`. The
questions are DialSim v1.1's fan quiz, from its pickle; taken are those that can be answered and name a time. Whoever
has no pickle gives questions as a JSON list of objects with `question`, `answer` and `date`, the day on which it is
asked, in the script's words. A script alone is a corpus about which nothing is asked.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks import tv_scripts
from memflow.benchmarks.memorybench.split import fixed_sample
from memflow.benchmarks.memorybench.tasks import catalog as catalogue
from memflow.benchmarks.memorybench.tasks.task import Case, CorpusMessage, CorpusSession, Pool
from memflow.benchmarks.published_file import File
from memflow.benchmarks.tv_scripts import Script, Text
from memflow.records import Record

CHATBOTS = {f"dialsim_{show}": name for show, name in tv_scripts.CHATBOTS.items()}
"""Whom the assistant plays, by data set."""
QUESTION_TYPE = "ans_w_time"
"""The fan quiz's questions that can be answered and name a time, as DialSim calls them."""
DRAWN_QUESTIONS = 300
"""Questions of a show that are drawn before the sample is, in the order of the file (paper, Tables 8 and 9)."""


class FanQuestion(BaseModel):
    """A question of the fan quiz: in neutral words, with its answer, and the day on which it is asked."""

    question: Text
    answer: Text
    date: Text


class PublishedFanQuestion(BaseModel):
    """A question as the pickle has it: in the words of each who may ask, and neutrally."""

    questions: dict[str, str]
    answer: str


class Scene(BaseModel):
    """A scene of an episode as the pickle has it, with its fan quiz by kinds of question. Its other questions, over a
    temporal graph, are not read."""

    date: Text
    easy_q: dict[str, Any]


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """A record per session of the script, per question of the others. Raises BadInput."""
    if file.source.endswith(".txt"):
        return list(tv_scripts.sessions(file))
    found = list(_pickled(file) if file.source.endswith(".pickle") else _own(file))
    if not found:
        raise file.bad("it holds no question that can be answered and names a time")
    return found


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
        raise file.bad("it is not a list of questions")
    for number, raw in enumerate(published, start=1):
        file.shaped(FanQuestion, raw, f"question {number}")
        yield f"question {number}", raw


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """One pool: the script, and the questions of which the sample is drawn."""
    contents = [json.loads(record.content) for record in records]
    found = [Script.model_validate(content) for content in contents if "script" in content]
    asked = [FanQuestion.model_validate(content) for content in contents if "question" in content]
    places = sorted(fixed_sample(range(len(asked)), min(DRAWN_QUESTIONS, len(asked))))
    cases = [
        case(str(place), asked[place].question, asked[place].answer, asked[place].date) for place in places
    ]
    return [Pool(dataset, catalogue.task(dataset), cases, corpus(found))]


def corpus(sessions: Iterable[Script]) -> tuple[CorpusSession, ...]:
    """The sessions as memories are given them."""
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
    """A question of the fan quiz, and the day on which it is asked."""
    return Case(case_id=case_id, question=question, gold=answer, revealed=answer, asked_at=date)
