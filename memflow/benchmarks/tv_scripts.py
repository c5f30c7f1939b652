"""Parser of television scripts in the format of DialSim: sessions, speakers and lines."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from memflow.benchmarks import safe_pickle
from memflow.benchmarks.published_file import File

CHATBOTS = {"friends": "Ross", "bigbang": "Sheldon", "theoffice": "Michael"}
"""The character that the assistant plays, by show; DialSim's choice."""
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
    """A line of dialogue. `line` is the number of its first text line, from 1."""

    line: int
    speaker: str
    text: str


class Script(BaseModel):
    """A session of a script: number, date and text."""

    session: Annotated[int, Field(ge=0)]
    date: Text
    script: Text

    def utterances(self) -> tuple[Utterance, ...]:
        """Return the session's utterances."""
        return utterances(self.script)


def utterances(script: str) -> tuple[Utterance, ...]:
    """Return the non-empty utterances of a script. A line without a speaker continues the previous utterance."""
    said: list[Utterance] = []
    for number, line in enumerate(script.split("\n"), start=1):
        if found := _SAID.match(line):
            said.append(Utterance(number, found["speaker"].strip(), found["text"].strip()))
        elif line.strip() and said:
            last = said[-1]
            said[-1] = Utterance(last.line, last.speaker, f"{last.text}\n{line.strip()}".strip())
    return tuple(each for each in said if each.text)


def scripts(whole: str) -> Iterator[Script]:
    """Yield the sessions of the complete script of a show. Raises ValueError."""
    text = whole.replace("\r\n", "\n")
    heads = list(_HEAD.finditer(text))
    if not heads or text[: heads[0].start()].strip():
        raise ValueError(
            "the first line of the script does not have the form [Date: September 22, 1994, Session #1]"
        )
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=True):
        raw = {"session": head["number"], "date": head["date"], "script": text[head.end() : end]}
        try:
            script = Script.model_validate(raw)
        except ValidationError as wrong:
            raise ValueError(f"session {head['number']}: {File.first(wrong)}") from wrong
        if not script.utterances():
            raise ValueError(f"session {head['number']} has no line of the form Speaker: text")
        yield script


def sessions(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and content of each session of a script file. Raises BadInput."""
    try:
        for script in scripts(file.text()):
            yield f"session {script.session}", script.model_dump()
    except ValueError as wrong:
        raise file.bad(str(wrong)) from wrong


def pickled(file: File) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the episode, number and content of each scene in DialSim's pickle file. Raises BadInput."""
    try:
        episodes = safe_pickle.load(file.content)
    except safe_pickle.NotPlain as wrong:
        raise file.bad(str(wrong)) from wrong
    for episode, scenes in entries(file, episodes, "the whole file"):
        for number, raw in entries(file, scenes, f"episode {episode}"):
            yield episode, number, raw


def entries(file: File, value: Any, where: str) -> list[tuple[Any, Any]]:
    """Return the items of a dict. Raises BadInput with the location, `where`, if the value is no dict."""
    if not isinstance(value, Mapping):
        raise file.bad(f"{where} is not a Python dict")
    return list(value.items())
