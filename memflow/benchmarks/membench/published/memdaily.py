"""MemDaily (MemSim, arXiv 2409.20163), MemBench's Chinese parent: observed, factual, a file for each kind and scenario.

A record is a trajectory with its questions. What its makers' own steps failed at they marked with `[ERRORQ]`,
`[ERRORA]` and `[ERRORC]` in place of a question, an answer and its options.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from memflow.benchmarks.membench.kinds import Kind, kind
from memflow.benchmarks.membench.published.questions import Question, Shape, asked
from memflow.benchmarks.membench.turns import Step, Trajectory
from memflow.benchmarks.membench.wording import stamped
from memflow.benchmarks.published_file import File, Said
from memflow.errors import BadInput
from memflow.records import Record

_NAME = re.compile(r"\d\d_(?P<kind>\w+)_(?P<scenario>[a-z]+)")


class _Message(Shape):
    message: Said
    time: Said
    place: Said


class _Trajectory(Shape):
    tid: int
    message_list: Annotated[list[_Message], Field(min_length=1)]
    question_list: Annotated[list[Question], Field(min_length=1)]


def read(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """The trajectories of a file with their ids. Raises BadInput."""
    of, scenario = _named(file)
    values = file.json()
    if not isinstance(values, list) or not values:
        raise file.bad("it does not hold a list of trajectories")
    for number, raw in enumerate(values):
        shaped = file.shaped(_Trajectory, raw, f"trajectory {number}")
        yield f"observation/{of.name}/{scenario}/{shaped.tid}", raw


def trajectory(record: Record) -> Trajectory:
    """The trajectory of a record; a question that cannot be asked has its reason."""
    shaped = _Trajectory.model_validate_json(record.content)
    _, name, scenario, _ = record.record_id.split("/")
    found = Trajectory(
        trajectory_id=record.record_id,
        dataset=record.dataset,
        scene="observation",
        kind=kind(name),
        scenario=scenario,
        language="zh",
        steps=tuple(
            Step(stamped(one.message, one.place, one.time, "zh"), sent_at=one.time)
            for one in shaped.message_list
        ),
    )
    return replace(found, asked=tuple(asked(found, question) for question in shaped.question_list))


def _named(file: File) -> tuple[Kind, str]:
    name = PurePosixPath(file.source).stem
    match = _NAME.fullmatch(name)
    if match is None:
        raise file.bad(f"its name is not of the form 01_simple_roles.json, which says what it holds: {name}")
    try:
        of = kind(match["kind"])
    except BadInput as wrong:
        raise file.bad(str(wrong)) from wrong
    if match["scenario"] not in of.observation:
        known = ", ".join(of.observation) or "none"
        raise file.bad(f"{of.name} has no scenario {match['scenario']!r}; it has {known}")
    return of, match["scenario"]
