"""Reader of MemDaily (MemSim, arXiv 2409.20163), the Chinese predecessor of MemBench.

MemDaily has factual questions in observation, with one file per kind and scenario. A record is a trajectory with its
questions. `[ERRORQ]`, `[ERRORA]` and `[ERRORC]` mark a failed question, answer and options.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from memflow.benchmarks.membench.kinds import QuestionKind, find_kind
from memflow.benchmarks.membench.published.questions import QuestionOrInvalid, choice_question
from memflow.benchmarks.membench.published.release import quarantined_trajectory
from memflow.benchmarks.membench.turns import Step, Trajectory
from memflow.benchmarks.membench.wording import add_stamp
from memflow.benchmarks.models import PublishedModel
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, parse_records
from memflow.errors import BadInput
from memflow.records import Record

_NAME = re.compile(r"\d\d_(?P<kind>\w+)_(?P<scenario>[a-z]+)")


class _Message(PublishedModel):
    message: Said
    time: Said
    place: Said


class _MemDailyTrajectory(PublishedModel):
    tid: int
    message_list: Annotated[list[_Message], Field(min_length=1)]
    question_list: Annotated[list[QuestionOrInvalid], Field(min_length=1)]


def read(file: File) -> Iterator[RawRecord]:
    """Yield each trajectory in a file. Raises BadInput."""
    of, scenario = _named(file)
    group = f"observation/{of.name}/{scenario}"

    def parse(content: Any) -> tuple[str, Any]:
        return f"{group}/{_MemDailyTrajectory.model_validate(content).tid}", content

    numbered = (
        RawRecord(f"trajectory {number}", raw, f"{group}/number {number}")
        for number, raw in enumerate(file.json_list("trajectories"))
    )
    yield from parse_records(numbered, parse)


def trajectory(record: Record) -> Trajectory:
    """Convert a record to a trajectory. An invalid question has a reason."""
    if record.reason is not None:
        return quarantined_trajectory(record, "zh")
    shaped = _MemDailyTrajectory.model_validate_json(record.content)
    _, name, scenario, _ = record.record_id.split("/")
    found = Trajectory(
        trajectory_id=record.record_id,
        dataset=record.dataset,
        scene="observation",
        kind=find_kind(name),
        scenario=scenario,
        language="zh",
        steps=tuple(
            Step(add_stamp(one.message, one.place, one.time, "zh"), sent_at=one.time)
            for one in shaped.message_list
        ),
    )
    return replace(
        found, questions=tuple(choice_question(found, question) for question in shaped.question_list)
    )


def _named(file: File) -> tuple[QuestionKind, str]:
    name = PurePosixPath(file.source).stem
    match = _NAME.fullmatch(name)
    if match is None:
        raise file.bad(
            f"the file name {name} does not have the form NUMBER_KIND_SCENARIO, for example "
            "01_simple_roles.json"
        )
    try:
        of = find_kind(match["kind"])
    except BadInput as wrong:
        raise file.bad(str(wrong)) from wrong
    if match["scenario"] not in of.observation:
        known = ", ".join(of.observation) or "none"
        raise file.bad(
            f"the question kind {of.name} has no scenario {match['scenario']!r}; its scenarios are {known}"
        )
    return of, match["scenario"]
