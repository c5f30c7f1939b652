"""MemDaily (MemSim, arXiv 2409.20163), MemBench's Chinese parent: observed, factual, a file for each kind and scenario.

A record is a trajectory with its questions. What its makers' own steps failed at they marked with `[ERRORQ]`,
`[ERRORA]` and `[ERRORC]` in place of a question, an answer and its options.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.file import File, Said
from memflow.benchmarks.membench.kinds import Kind, kind
from memflow.benchmarks.membench.trajectories import Asked, Step, Trajectory
from memflow.benchmarks.membench.wording import LETTERS, stamped
from memflow.errors import BadInput
from memflow.records import Record

_NAME = re.compile(r"\d\d_(?P<kind>\w+)_(?P<scenario>[a-z]+)")
_FAILED = re.compile(r"\[ERROR[QAC]\]")


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Message(_Shape):
    mid: int
    message: Said
    time: Said
    place: Said


class _Question(_Shape):
    qid: int
    question: Said
    answer: str
    target_step_id: list[int]
    choices: dict[str, str] | str
    ground_truth: str
    time: Said


class _Trajectory(_Shape):
    tid: int
    message_list: Annotated[list[_Message], Field(min_length=1)]
    question_list: Annotated[list[_Question], Field(min_length=1)]


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
    asked = tuple(_asked(found, question) for question in shaped.question_list)
    return replace(found, asked=asked)


def _asked(of: Trajectory, question: _Question) -> Asked:
    options = tuple(question.choices.values()) if isinstance(question.choices, dict) else ()
    targets = [target for target in question.target_step_id if 0 <= target < len(of.steps)]
    gold = 1 + LETTERS.find(question.ground_truth) if question.ground_truth else 0
    return Asked(
        question=question.question,
        asked_at=question.time,
        options=options,
        gold=gold,
        answer=question.answer,
        evidence=tuple(of.told_at(target) for target in targets),
        reason=_fault(of, question, options),
    )


def _fault(of: Trajectory, question: _Question, options: tuple[str, ...]) -> str | None:
    """Why a question cannot be asked; None where it can."""
    for what, text in (
        ("question", question.question),
        ("answer", question.answer),
        ("choices", question.choices),
    ):
        if isinstance(text, str) and (found := _FAILED.search(text)):
            return f"its {what} says {found[0]}: it was not made"
    return None


def _named(file: File) -> tuple[Kind, str]:
    name = PurePosixPath(file.source).stem
    match = _NAME.fullmatch(name)
    if match is None:
        raise file.bad(f"its name is not of the form 01_simple_roles.json, which says what it holds: {name}")
    try:
        return kind(match["kind"]), match["scenario"]
    except BadInput as wrong:
        raise file.bad(str(wrong)) from wrong
