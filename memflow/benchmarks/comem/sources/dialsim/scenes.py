"""Conversion of DialSim's files to records, one per scene, and of records to a show's scenes with seasons.

The pickle states the seasons. dates.py reads the dates.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.comem.sources.dialsim.dates import days
from memflow.benchmarks.comem.sources.dialsim.published_questions import CANNOT, PublishedQuestion
from memflow.benchmarks.published_file import File, valid_records
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.benchmarks.tv_scripts import Text, Utterance, entries, pickled, utterances
from memflow.records import Record

PICKLE = "*_dialsim.pickle"
"""The pattern of file names; `*` is the show."""
CREDITS = ("Teleplay:", "Story:")
"""Marks of lines that nobody says."""
_SHOW = re.compile(r"(?P<show>.+)_dialsim\.pickle")
_EPISODE = re.compile(r"S(?P<season>\d+)E(?P<episode>\d+)\b.*", re.DOTALL)


class PublishedScene(BaseModel):
    """A scene of the pickle file, with its questions by sort and kind."""

    date: Text
    script: str
    hard_q: dict[str, Any]
    easy_q: dict[str, Any]


@dataclass(frozen=True)
class DialSimScene:
    """A scene: its season, from 1, its number in broadcast order, its name, its date, and its utterances."""

    season: int
    number: int
    name: str
    date: str
    said: tuple[Utterance, ...]
    asks: dict[str, Any]
    """The published questions about it, by sort and kind."""


def read(file: File) -> Iterator[RawRecord]:
    """Return one record per scene. An invalid question is quarantined without its scene. Raises BadInput."""
    return file.some(_pickled(file), "scenes")


def _pickled(file: File) -> Iterator[RawRecord]:
    for raw in pickled(file):
        episode, _, number = raw.record_id.rpartition(", scene ")
        [scene] = parse_records([replace(raw, record_id=raw.where)], partial(_scene, episode, number))
        if scene.fault is not None:
            yield scene
            continue
        published = PublishedScene.model_validate(raw.content)
        for sort in CANNOT:
            quizzes = list(_quizzes(scene, sort, getattr(published, sort)))
            scene.content[sort] = {kind: {} for kind in getattr(published, sort)}
            for kind, key, quiz in quizzes:
                if quiz.fault is None:
                    scene.content[sort][kind][key] = quiz.content
                else:
                    yield quiz
        yield scene


def _scene(episode: str, number: str, content: Any) -> tuple[str, Any]:
    if not _EPISODE.fullmatch(episode):
        raise RecordFault(
            f"the episode's name {episode!r} does not start with season and episode number, such as S01E01"
        )
    if not number.isdecimal():
        raise RecordFault(f"the scene number {number!r} is not an integer")
    scene = PublishedScene.model_validate(content)
    return "", {"episode": episode, "scene": int(number), "date": scene.date, "script": scene.script}


def _quizzes(scene: RawRecord, sort: str, kinds: Mapping[str, Any]) -> Iterator[tuple[str, str, RawRecord]]:
    """Yield (kind, key, question) for each question of a scene. The key of a question in a list is its position."""
    for kind, published in kinds.items():
        keyed = dict(enumerate(published)) if isinstance(published, list) else published
        name = f"{sort}, {kind}"
        for raw in parse_records(entries(scene, name, keyed), _quiz):
            yield kind, raw.record_id.removeprefix(f"{scene.record_id}, {name} "), raw


def _quiz(content: Any) -> tuple[str, Any]:
    return "", PublishedQuestion.model_validate(content).model_dump()


def show_of(records: Sequence[Record]) -> str:
    """Return the name of the show that the records' file name contains."""
    found = _SHOW.fullmatch(PurePosixPath(records[0].source).name)
    if found is None:
        raise ValueError(f"the file name of {records[0].source} contains no name of a show; rename it")
    return found["show"]


def scenes(records: Sequence[Record]) -> list[DialSimScene]:
    """Return a show's scenes in broadcast order."""
    contents = [json.loads(record.content) for record in valid_records(records)]
    ordered = sorted(contents, key=lambda content: (*_numbers(content["episode"]), content["scene"]))
    return [
        DialSimScene(
            _numbers(content["episode"])[0],
            number,
            "S{:02}E{:02}.{}".format(*_numbers(content["episode"]), content["scene"]),
            content["date"],
            _said(content),
            {sort: content[sort] for sort in CANNOT},
        )
        for number, content in enumerate(ordered, start=1)
    ]


def by_date(shown: Sequence[DialSimScene]) -> list[DialSimScene]:
    """Return the scenes sorted by date. Scenes of the same day keep their order (paper, A.3.1)."""
    ordered = sorted(zip(days([scene.date for scene in shown]), shown, strict=True), key=lambda each: each[0])
    return [scene for _, scene in ordered]


def _said(content: dict[str, Any]) -> tuple[Utterance, ...]:
    lines = content["script"].replace("\r\n", "\n").split("\n")
    return utterances("\n".join(line for line in lines if not any(credit in line for credit in CREDITS)))


def _numbers(episode: str) -> tuple[int, int]:
    found = _EPISODE.fullmatch(episode)
    if found is None:
        raise ValueError(
            f"the episode name {episode!r} does not start with season and number. Rename it, for example to S01E01."
        )
    return int(found["season"]), int(found["episode"])
