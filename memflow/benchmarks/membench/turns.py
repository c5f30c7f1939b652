"""A trajectory: what one user says, step by step, and what is asked of it. What files hold and what is generated.

A step is a round where two speak, and a message where one is observed. Here trajectories become rows; where they come
from is published/ and generated.py, what else happens to the rows noise/ and capacity.py.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memflow.benchmarks.membench.kinds import Kind, Scene
from memflow.records import Probe, Turn

NOISE = "noise"
"""Stands in the ids of messages that are noise: `TRAJECTORY/noise/UNIT.STEPu`."""


@dataclass(frozen=True)
class Step:
    """What is said at once: the user's words, and the assistant's where it takes part. Times as the data has them.

    `exposes` is gold: what the step tells, such as {"entity": ..., "attribute": ..., "value": ...}. Of `noise`, the
    session is its unit.
    """

    user: str
    assistant: str | None = None
    session: int = 0
    sent_at: str | None = None
    exposes: Mapping[str, str] | None = None
    reason: str | None = None
    noise: bool = False


@dataclass(frozen=True)
class Asked:
    """A question with its options. `gold` is the right one's number from 1; `evidence` are ids of messages."""

    question: str
    asked_at: str | None
    options: tuple[str, ...]
    gold: int
    answer: str
    evidence: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Trajectory:
    """One user's messages about one thing. Its id is unique in a domain, and is the id of its episode.

    With a `reason` it is quarantined as a whole: its steps are not played, its questions not asked.
    """

    trajectory_id: str
    dataset: str
    scene: Scene
    kind: Kind
    scenario: str
    language: str
    steps: tuple[Step, ...]
    asked: tuple[Asked, ...] = ()
    reason: str | None = None

    def message_id(self, step: int, role: str = "user") -> str:
        """The id of what `role` says in the step of that number from 0: `TRAJECTORY/SESSION.STEPu`, or `a`."""
        said = self.steps[step]
        below = f"{self.trajectory_id}/{NOISE}" if said.noise else self.trajectory_id
        return f"{below}/{said.session}.{step}{role[0]}"

    def told_at(self, step: int) -> str:
        """The id of the message of a step that tells: the user's, or the assistant's where its words are asked for."""
        spoken = self.steps[step].assistant is not None
        return self.message_id(step, self.kind.told_by if spoken else "user")


def turns_of(domain: str, trajectory: Trajectory) -> Iterator[Turn]:
    """The messages as rows, a step an event; all before checkpoint 0."""
    for number, step in enumerate(trajectory.steps):
        said = [("user", step.user)] + ([("assistant", step.assistant)] if step.assistant is not None else [])
        for position, (role, text) in enumerate(said):
            told = step.exposes is not None and trajectory.message_id(number, role) == trajectory.told_at(
                number
            )
            yield Turn(
                domain=domain,
                episode_id=trajectory.trajectory_id,
                checkpoint=0,
                event=number,
                position=position,
                message_id=trajectory.message_id(number, role),
                kind="given",
                role=role,
                text=text,
                sent_at=step.sent_at,
                exposes=json.dumps(step.exposes, ensure_ascii=False, sort_keys=True) if told else None,
                reason=step.reason or trajectory.reason,
            )


def probes_of(domain: str, trajectory: Trajectory) -> Iterator[Probe]:
    """The questions as rows, asked at the end."""
    for number, asked in enumerate(trajectory.asked):
        yield Probe(
            domain=domain,
            probe_id=f"{trajectory.trajectory_id}/q{number}",
            episode_id=trajectory.trajectory_id,
            checkpoint=0,
            kind="choice",
            dataset=trajectory.dataset,
            category=trajectory.kind.name,
            language=trajectory.language,
            asked_at=asked.asked_at,
            metric="accuracy",
            question=asked.question,
            options=list(asked.options),
            variables=[],
            gold=str(asked.gold),
            revealed=asked.answer,
            evidence=list(asked.evidence),
            reason=asked.reason or trajectory.reason,
        )


def scenario_of(trajectory_id: str) -> str:
    """The scenario that a trajectory's id names: it is its last part but one."""
    return trajectory_id.split("/")[-2]


def is_noise(message_id: str) -> bool:
    """Whether a message is noise."""
    return f"/{NOISE}/" in message_id


def session_of(message_id: str) -> str:
    """What comes before the step in a message's id: messages of one session have it in common."""
    return message_id.rpartition(".")[0]
