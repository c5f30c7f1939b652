"""Conversion of DialSim's files to records, one per scene, and of records to a show's scenes with seasons.

The pickle states the seasons. For a script, seasons.py infers them from the dates.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.comem.sources.dialsim.published_questions import CANNOT, PublishedQuestion
from memflow.benchmarks.comem.sources.dialsim.seasons import days, seasons
from memflow.benchmarks.published_file import File
from memflow.benchmarks.tv_scripts import Text, Utterance, entries, pickled, sessions, utterances
from memflow.records import Record

PICKLE, SCRIPT = "*_dialsim.pickle", "dialsim_corpus_*.txt"
"""File name patterns; `*` is the show."""
CREDITS = ("Teleplay:", "Story:")
"""Marks of lines that nobody says."""
_SHOW = re.compile(r"dialsim_corpus_(?P<script>.+)\.txt|(?P<pickle>.+)_dialsim\.pickle")
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


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return one record per scene. Raises BadInput."""
    found = list(sessions(file) if file.source.endswith(".txt") else _pickled(file))
    if not found:
        raise file.bad("the DialSim file contains no scenes")
    return found


def _pickled(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    for episode, number, raw in pickled(file):
        where = f"episode {episode}, scene {number}"
        if not isinstance(episode, str) or not _EPISODE.fullmatch(episode):
            raise file.bad(
                f"episode {episode}: its name does not start with season and number, for example S01E01"
            )
        if not isinstance(number, int):
            raise file.bad(f"{where}: the scene number is not an integer")
        scene = file.shaped(PublishedScene, raw, where)
        content = {"episode": episode, "scene": number, "date": scene.date, "script": scene.script}
        for sort in CANNOT:
            content[sort] = {
                kind: dict(_quizzes(file, held, f"{where}, {sort}, {kind}"))
                for kind, held in getattr(scene, sort).items()
            }
        yield where, content


def _quizzes(file: File, published: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the questions of a kind with their keys. If the questions are a list, the keys are the positions from 0."""
    keyed = enumerate(published) if isinstance(published, list) else entries(file, published, where)
    for key, raw in keyed:
        yield str(key), file.shaped(PublishedQuestion, raw, f"{where} {key}").model_dump()


def show_of(records: Sequence[Record]) -> str:
    """Return the name of the show that the records' file name contains."""
    found = _SHOW.fullmatch(PurePosixPath(records[0].source).name)
    if found is None:
        raise ValueError(f"the file name of {records[0].source} contains no name of a show; rename it")
    return found["script"] or found["pickle"]


def scenes(records: Sequence[Record]) -> list[DialSimScene]:
    """Return a show's scenes in broadcast order."""
    contents = [json.loads(record.content) for record in records]
    if "episode" not in contents[0]:
        told = seasons([content["date"] for content in contents])
        return [
            DialSimScene(
                season,
                content["session"],
                f"session{content['session']}",
                content["date"],
                _said(content),
                {},
            )
            for season, content in zip(told, contents, strict=True)
        ]
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
