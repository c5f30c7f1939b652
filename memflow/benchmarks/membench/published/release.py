"""Reader of the two forms of MemBench's files: raw by question kind (MemData), and merged and sampled (data2test).

In raw files, place and time are separate fields and the file name is the question kind. In merged files, the text
contains place and time. Steps are numbered across sessions. A file `..._multiple_N.json` is extended by N noise units;
its steps without a time are noise.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import PurePosixPath
from typing import Annotated, Any, Self, cast

from pydantic import AliasChoices, BeforeValidator, Field, model_validator

from memflow.benchmarks.membench.kinds import QuestionKind, Scene, find_kind
from memflow.benchmarks.membench.published.questions import (
    QuestionOrInvalid,
    choice_question,
    invalid_question,
)
from memflow.benchmarks.membench.turns import Step, Trajectory
from memflow.benchmarks.membench.wording import add_stamp
from memflow.benchmarks.models import PublishedModel
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.errors import BadInput
from memflow.records import Record

_SCENES: dict[str, Scene] = {"FirstAgent": "participation", "ThirdAgent": "observation"}
_STAMP = re.compile(r"\(place:.*;\s*time:?\s*(?P<time>'\d{4}-\d\d-\d\d \d\d:\d\d'[^()]*)\)\s*$", re.DOTALL)
_LENGTHENED = re.compile(r"_multiple_(?P<units>\d+)$")
NOISE_STEPS = 3
"""Steps per noise unit."""


class PublishedStep(PublishedModel):
    """A round or a message: its text, optional place and time, and gold facts."""

    message: Said | None = None
    user: Annotated[Said | None, Field(validation_alias=AliasChoices("user", "user_message"))] = None
    assistant: Annotated[
        Said | None, Field(validation_alias=AliasChoices("agent", "assistant", "assistant_message"))
    ] = None
    place: Said | None = None
    time: Said | None = None
    rel: Any = None
    attr: Any = None
    value: Any = None

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return {"message": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        given = tuple(text is not None for text in (self.message, self.user, self.assistant))
        if given not in ((True, False, False), (False, True, True)):
            raise ValueError(
                "the step has neither `message` alone nor both `user` and `assistant`; add the missing field"
            )
        if (self.place is None) != (self.time is None):
            raise ValueError(
                "the step has `place` without `time`, or `time` without `place`; add the missing field"
            )
        return self

    @property
    def scene(self) -> Scene:
        """The scene of the step: participation or observation."""
        return "observation" if self.user is None else "participation"

    def texts(self) -> tuple[str, str | None]:
        """Return the user's text and the assistant's, which is None if the step has none."""
        return self.message or self.user or "", self.assistant


def _sessions(value: Any) -> Any:
    """Return the sessions of a trajectory. Steps without sessions become a single session."""
    if isinstance(value, list) and not any(isinstance(each, list) for each in value):
        return [value]
    return value


class _PublishedTrajectory(PublishedModel):
    tid: Annotated[int, Field(validation_alias=AliasChoices("tid", "gid"))]
    message_list: Annotated[list[list[PublishedStep]], BeforeValidator(_sessions)]
    QA: QuestionOrInvalid

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not any(self.message_list):
            raise ValueError("the field `message_list` is empty; add at least one session")
        return self


def read(file: File) -> Iterator[RawRecord]:
    """Return each trajectory in a file. Raises BadInput."""
    return file.some(_trajectories(file, _scene(file)), "trajectories")


def _trajectories(file: File, scene: Scene) -> Iterator[RawRecord]:
    for of, scenario, values in _groups(file, scene):
        group = f"{scene}/{of.name}/{scenario}"
        numbered = (
            RawRecord(f"{of.name}, {scenario}, trajectory {number}", raw, f"{group}/number {number}")
            for number, raw in enumerate(values)
        )
        yield from parse_records(numbered, partial(_parse, scene, group))


def _parse(scene: Scene, group: str, content: Any) -> tuple[str, Any]:
    shaped = _PublishedTrajectory.model_validate(content)
    if {step.scene for session in shaped.message_list for step in session} != {scene}:
        raise RecordFault(
            f"trajectory {shaped.tid} has steps that do not belong to the scene {scene}. Move it to its scene's file."
        )
    return f"{group}/{shaped.tid}", content


def quarantined_trajectory(record: Record, language: str) -> Trajectory:
    """Return a trajectory for a quarantined record, without messages and with a quarantined question."""
    scene, name, scenario, _ = record.record_id.split("/", 3)
    reason = f"{record.source}, {record.reason}"
    return Trajectory(
        trajectory_id=record.record_id,
        dataset=record.dataset,
        scene=cast(Scene, scene),
        kind=find_kind(name),
        scenario=scenario,
        language=language,
        steps=(),
        questions=(invalid_question(reason),),
        reason=reason,
    )


def trajectory(record: Record) -> Trajectory:
    """Convert a record to a trajectory. An invalid question has a reason."""
    if record.reason is not None:
        return quarantined_trajectory(record, "en")
    shaped = _PublishedTrajectory.model_validate_json(record.content)
    scene, name, scenario, _ = record.record_id.split("/")
    units = _units(record)
    steps = tuple(_step(step, session) for session, said in enumerate(shaped.message_list) for step in said)
    if units:
        steps = _with_noise(steps)
    found = Trajectory(
        trajectory_id=record.record_id,
        dataset=record.dataset,
        scene=cast(Scene, scene),
        kind=find_kind(name),
        scenario=scenario,
        language="en",
        steps=steps,
        reason=_misfit(steps, units),
    )
    return replace(found, questions=(choice_question(found, shaped.QA),))


def _step(step: PublishedStep, session: int) -> Step:
    user, assistant = step.texts()
    if step.place is not None and step.time is not None:
        user = add_stamp(user, step.place, step.time)
        assistant = assistant and add_stamp(assistant, step.place, step.time)
    found = _STAMP.search(user) or _STAMP.search(assistant or "")
    time = step.time or (found["time"].strip() if found else None)
    return Step(user, assistant, session, time, _gold_fact(step))


def _gold_fact(step: PublishedStep) -> dict[str, str] | None:
    """Return the gold fact that a step contains."""
    fields = {"entity": step.rel, "attribute": step.attr, "value": step.value}
    told = {
        name: each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        for name, each in fields.items()
        if each is not None
    }
    return told or None


def _with_noise(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Mark steps without a time as noise and set their session to the number of their noise unit.

    A noise unit is `NOISE_STEPS` consecutive noise steps.
    """
    bare = count()
    return tuple(
        replace(step, noise=True, session=next(bare) // NOISE_STEPS) if step.sent_at is None else step
        for step in steps
    )


def _misfit(steps: tuple[Step, ...], units: int) -> str | None:
    """Return the reason why noise cannot be distinguished from original steps, or None if all noise is identified."""
    bare = sum(step.noise for step in steps)
    if bare == units * NOISE_STEPS:
        return None
    return f"its file says {units} units of noise, of {NOISE_STEPS} steps each, and {bare} of its steps say no time"


def _units(record: Record) -> int:
    match = _LENGTHENED.search(PurePosixPath(record.source).stem)
    return int(match["units"]) if match else 0


def _scene(file: File) -> Scene:
    named = {scene for name, scene in _SCENES.items() if name in file.source}
    if len(named) != 1:
        raise file.bad("the path contains neither FirstAgent (participation) nor ThirdAgent (observation)")
    return named.pop()


def _groups(file: File, scene: Scene) -> Iterator[tuple[QuestionKind, str, list[Any]]]:
    """Yield the trajectories of a file with their kind and scenario."""
    values = file.json()
    if not isinstance(values, dict) or not values:
        raise file.bad(
            "the JSON is empty or not an object; expected {scenario: [trajectories]} or "
            "{kind: {scenario: [trajectories]}}"
        )
    raw = all(isinstance(value, list) for value in values.values())
    for name, scenarios in ({PurePosixPath(file.source).stem: values} if raw else values).items():
        try:
            of = find_kind(name)
        except BadInput as wrong:
            raise file.bad(str(wrong)) from wrong
        if not isinstance(scenarios, dict):
            raise file.bad(f"the value of {name!r} is not a JSON object that maps scenarios to trajectories")
        for scenario, trajectories in scenarios.items():
            if scenario not in of.scenarios(scene):
                known = ", ".join(of.scenarios(scene)) or "none"
                raise file.bad(
                    f"the question kind {name} has no scenario {scenario!r} in {scene}; its scenarios are "
                    f"{known}"
                )
            if not isinstance(trajectories, list):
                raise file.bad(f"{name}, {scenario}: the value is not a JSON list of trajectories")
            yield of, scenario, trajectories
