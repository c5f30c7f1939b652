"""Scripts of television shows as DialSim and its copies publish them: who says what, scene by scene.

Here is how the text of a script is cut, and the walk over the pickle's episodes and scenes. What becomes of the scenes,
and of the questions about them, is each benchmark's own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from memflow.benchmarks import safe_pickle
from memflow.benchmarks.published_file import File

CHATBOTS = {"friends": "Ross", "bigbang": "Sheldon", "theoffice": "Michael"}
"""Whom the assistant plays, by show: DialSim's choice."""
SHOWS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    (
        "friends",
        "Friends",
        {
            "dialsim/dialsim_corpus_friends.txt": (
                "a54c78565e5f22df0f1cf65222661bc554212eaccb493d6a145acc4b77dee7c4"
            )
        },
    ),
    ("bigbang", "The Big Bang Theory", {}),
    ("theoffice", "The Office", {}),
)
"""Name, title and published SHA-256 sums of each show's files."""
_HEAD = re.compile(r"^\[Date: (?P<date>[^\]]+), Session #(?P<number>\d+)\][ \t]*$", re.MULTILINE)
_SAID = re.compile(r"^(?P<speaker>[^:]+):\s*(?P<text>.*)$")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True)
class Utterance:
    """What one says, and the number from 1 of the line on which it begins."""

    line: int
    speaker: str
    text: str


class Script(BaseModel):
    """A session as it stands in the script: its number, its day, and its lines."""

    session: Annotated[int, Field(ge=0)]
    date: Text
    script: Text

    def utterances(self) -> tuple[Utterance, ...]:
        """What is said in it."""
        return utterances(self.script)


def utterances(script: str) -> tuple[Utterance, ...]:
    """What is said in a script's lines; a line without a speaker goes on with the one before. Names without words are
    left out."""
    said: list[Utterance] = []
    for number, line in enumerate(script.split("\n"), start=1):
        if found := _SAID.match(line):
            said.append(Utterance(number, found["speaker"].strip(), found["text"].strip()))
        elif line.strip() and said:
            last = said[-1]
            said[-1] = Utterance(last.line, last.speaker, f"{last.text}\n{line.strip()}".strip())
    return tuple(each for each in said if each.text)


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
        if not script.utterances():
            raise ValueError(f"session {head['number']} has no line like Speaker: text")
        yield script


def sessions(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """The sessions of a file that is a show's script, by id. Raises BadInput."""
    try:
        for script in scripts(file.text()):
            yield f"session {script.session}", script.model_dump()
    except ValueError as wrong:
        raise file.bad(str(wrong)) from wrong


def pickled(file: File) -> Iterator[tuple[Any, Any, Any]]:
    """Every scene of DialSim's pickle as it stands there, with its episode's name and its number. Raises BadInput."""
    try:
        episodes = safe_pickle.load(file.content)
    except safe_pickle.NotPlain as wrong:
        raise file.bad(str(wrong)) from wrong
    for episode, scenes in entries(file, episodes, "the whole"):
        for number, raw in entries(file, scenes, f"episode {episode}"):
            yield episode, number, raw


def entries(file: File, value: Any, where: str) -> list[tuple[Any, Any]]:
    """The entries of what should be a dict. Raises BadInput saying that what is at `where` is none."""
    if not isinstance(value, Mapping):
        raise file.bad(f"{where} is not a dict")
    return list(value.items())
