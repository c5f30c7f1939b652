"""DialSim: a television show's script, and fans' questions about it (A.1.1).

The script is MemoryBench's copy: blocks of `[Date: September 22, 1994, Session #1]` and lines of `Speaker: text`. The
questions are DialSim v1.1's fan quiz, from its pickle; taken are those that can be answered and name a time. Whoever
has no pickle gives questions as a JSON list of objects with `question`, `answer` and `date`, the day on which it is
asked, in the script's words. A script alone is a corpus about which nothing is asked.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from memflow.benchmarks import plain_pickle
from memflow.benchmarks.file import File
from memflow.benchmarks.memorybench.split import fixed_sample
from memflow.benchmarks.memorybench.tasks import catalogue
from memflow.benchmarks.memorybench.tasks.task import Case, Pool, Session, Spoken
from memflow.records import Record

CHATBOTS = {"dialsim_friends": "Ross", "dialsim_bigbang": "Sheldon", "dialsim_theoffice": "Michael"}
"""Whom the assistant plays, by data set: DialSim's choice."""
KIND = "ans_w_time"
"""The fan quiz's questions that can be answered and name a time, as DialSim calls them."""
FIRST = 300
"""Questions of a show that are drawn before the sample is, in the order of the file (paper, Tables 8 and 9)."""
_HEAD = re.compile(r"^\[Date: (?P<date>[^\]]+), Session #(?P<number>\d+)\][ \t]*$", re.MULTILINE)
_SAID = re.compile(r"^(?P<speaker>[^:]+):\s*(?P<text>.*)$")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Script(BaseModel):
    """A session as it stands in the script: its number, its day, and its lines."""

    session: Annotated[int, Field(ge=0)]
    date: Text
    script: Text

    def spoken(self) -> tuple[Spoken, ...]:
        """Its messages, by the number of the line on which each begins; a line without a speaker goes on with the one
        before. Names without words are left out."""
        said: list[Spoken] = []
        for number, line in enumerate(self.script.split("\n"), start=1):
            if found := _SAID.match(line):
                message_id = f"D{self.session}:{number}"
                said.append(Spoken(message_id, found["speaker"].strip(), found["text"].strip()))
            elif line.strip() and said:
                last = said[-1]
                said[-1] = Spoken(last.message_id, last.speaker, f"{last.text}\n{line.strip()}".strip())
        return tuple(each for each in said if each.text)


class Asked(BaseModel):
    """A question of the fan quiz: in neutral words, with its answer, and the day on which it is asked."""

    question: Text
    answer: Text
    date: Text


class Quiz(BaseModel):
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
        return list(_sessions(file))
    found = list(_pickled(file) if file.source.endswith(".pickle") else _own(file))
    if not found:
        raise file.bad("it holds no question that can be answered and names a time")
    return found


def _sessions(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        for script in scripts(file.text()):
            yield f"session {script.session}", script.model_dump()
    except ValueError as wrong:
        raise file.bad(str(wrong)) from wrong


def scripts(whole: str) -> Iterator[Script]:
    """The sessions of a show's whole script. Raises ValueError."""
    text = whole.replace("\r\n", "\n")
    heads = list(_HEAD.finditer(text))
    if not heads or text[: heads[0].start()].strip():
        raise ValueError("it does not begin with a line like [Date: September 22, 1994, Session #1]")
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=True):
        raw = {"session": head["number"], "date": head["date"], "script": text[head.end() : end]}
        try:
            script = Script.model_validate(raw)
        except ValidationError as wrong:
            raise ValueError(f"session {head['number']}: {File.first(wrong)}") from wrong
        if not script.spoken():
            raise ValueError(f"session {head['number']} has no line like Speaker: text")
        yield script


def _pickled(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        episodes = plain_pickle.load(file.content)
    except plain_pickle.NotPlain as wrong:
        raise file.bad(str(wrong)) from wrong
    for episode, scenes in _entries(file, episodes, "the whole"):
        for number, raw in _entries(file, scenes, f"episode {episode}"):
            where = f"episode {episode}, scene {number}"
            scene = file.shaped(Scene, raw, where)
            for key, published in _entries(file, scene.easy_q.get(KIND, {}), f"{where}, {KIND}"):
                quiz = file.shaped(Quiz, published, f"{where}, {KIND} {key}")
                # Some are published without words, and cannot be asked.
                if words := quiz.questions.get("default", "").strip():
                    asked = {"question": words, "answer": quiz.answer, "date": scene.date}
                    file.shaped(Asked, asked, f"{where}, {KIND} {key}")
                    yield f"{episode}, scene {number}, {KIND} {key}", asked


def _entries(file: File, value: Any, where: str) -> list[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise file.bad(f"{where} is not a dict")
    return list(value.items())


def _own(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    published = file.json()
    if not isinstance(published, list):
        raise file.bad("it is not a list of questions")
    for number, raw in enumerate(published, start=1):
        file.shaped(Asked, raw, f"question {number}")
        yield f"question {number}", raw


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """One pool: the script, and the questions of which the sample is drawn."""
    contents = [json.loads(record.content) for record in records]
    found = [Script.model_validate(content) for content in contents if "script" in content]
    asked = [Asked.model_validate(content) for content in contents if "question" in content]
    places = sorted(fixed_sample(range(len(asked)), min(FIRST, len(asked))))
    cases = [
        case(str(place), asked[place].question, asked[place].answer, asked[place].date) for place in places
    ]
    return [Pool(dataset, catalogue.task(dataset), cases, corpus(found))]


def corpus(sessions: Iterable[Script]) -> tuple[Session, ...]:
    """The sessions as memories are given them."""
    return tuple(Session(script.date, script.spoken()) for script in sessions)


def case(case_id: str, question: str, answer: str, date: str | None) -> Case:
    """A question of the fan quiz, and the day on which it is asked."""
    return Case(case_id=case_id, question=question, gold=answer, revealed=answer, asked_at=date)
