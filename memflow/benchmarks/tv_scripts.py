"""Parser of television scripts in the format of DialSim: sessions, speakers and lines."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from memflow.benchmarks import safe_pickle
from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records

NO_DICT = "the value is not a Python dict"
CHATBOTS = {"friends": "Ross", "bigbang": "Sheldon", "theoffice": "Michael"}
"""The character that the assistant plays, by show; DialSim's choice."""
_HEAD = re.compile(r"^\[Date: (?P<date>[^\]]+), Session #(?P<number>\d+)\][ \t]*$", re.MULTILINE)
_START = re.compile(r"^\[Date:", re.MULTILINE)
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


def sessions(file: File) -> Iterator[RawRecord]:
    """Yield the sessions of a script file. Raises BadInput if the file is not a script."""
    try:
        yield from parse_records(_sessions(file.text()), _parse)
    except ValueError as wrong:
        raise file.bad(str(wrong)) from wrong


def scripts(whole: str) -> Iterator[Script]:
    """Yield the valid sessions of the complete script of a show. Raises ValueError if it is not a script."""
    for raw in parse_records(_sessions(whole), _parse):
        if raw.fault is None:
            yield Script.model_validate(raw.content)


def _sessions(whole: str) -> Iterator[RawRecord]:
    text = whole.replace("\r\n", "\n")
    starts = [found.start() for found in _START.finditer(text)]
    if not _START.match(text.lstrip()) or not _HEAD.search(text):
        raise ValueError(
            "the first line of the script has another form; begin the script with a line such as "
            "[Date: September 22, 1994, Session #1]"
        )
    for position, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), start=1):
        head = _HEAD.match(text, start)
        if head is None:
            line, fault = (
                text[start:end],
                "its first line does not have the form [Date: DAY, Session #NUMBER]",
            )
            yield RawRecord(f"session at position {position}", line, fault=fault)
            continue
        where = f"session {head['number']}"
        content = {"session": head["number"], "date": head["date"], "script": text[head.end() : end]}
        yield RawRecord(where, content, where)


def _parse(content: Any) -> tuple[str, Any]:
    script = Script.model_validate(content)
    if not script.utterances():
        raise RecordFault(
            "the session has no line of the form `Speaker: text`. Add one, or remove the session."
        )
    return "", script.model_dump()


def pickled(file: File) -> Iterator[RawRecord]:
    """Yield the scenes in DialSim's pickle file, with the id `EPISODE, scene NUMBER`. Raises BadInput."""
    try:
        episodes = safe_pickle.load(file.content)
    except safe_pickle.NotPlain as wrong:
        raise file.bad(str(wrong)) from wrong
    if not isinstance(episodes, Mapping):
        raise file.bad("the whole file is not a Python dict")
    for episode, scenes in episodes.items():
        parent = RawRecord(f"episode {episode}", scenes, str(episode))
        if isinstance(scenes, Mapping):
            yield from entries(parent, "scene", scenes)
        else:
            yield replace(parent, fault=NO_DICT)


def entries(parent: RawRecord, name: str, value: Any) -> Iterator[RawRecord]:
    """Yield the items of a dict in a record, with `name` and their keys as location, or one invalid record."""
    if not isinstance(value, Mapping):
        yield RawRecord(f"{parent.where}, {name}", value, f"{parent.record_id}, {name}", NO_DICT)
        return
    for key, content in value.items():
        yield RawRecord(f"{parent.where}, {name} {key}", content, f"{parent.record_id}, {name} {key}")
