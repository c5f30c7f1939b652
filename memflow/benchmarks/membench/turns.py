"""Trajectories (one user's messages with questions) and their conversion to turn rows.

A step is a round in participation and one message in observation. `published/` and `generation/` build trajectories.
`noise/` and `capacity.py` change the rows.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memflow.benchmarks.membench.kinds import QuestionKind, Scene
from memflow.records import Turn

NOISE = "noise"
"""Path segment in the ids of noise messages: `TRAJECTORY/noise/UNIT.STEPu`."""


@dataclass(frozen=True)
class Step:
    """A step of a trajectory: an exchange in the scenario participation, one message in the scenario observation.

    Times have the data set's format. `exposes` is gold: the fact in the step, such as {"entity": ..., "attribute": ...,
    "value": ...}. For a noise step, `session` is the number of its noise unit, a short unrelated dialogue.
    """

    user: str
    assistant: str | None = None
    session: int = 0
    sent_at: str | None = None
    exposes: Mapping[str, str] | None = None
    reason: str | None = None
    noise: bool = False


@dataclass(frozen=True)
class ChoiceQuestion:
    """A multiple-choice question. `gold` is the number of the correct option, from 1; `evidence` lists message ids.

    `previous` is the answer before a correction, equal to `answer` if there was no correction, or None if unknown.
    """

    question: str
    asked_at: str | None
    options: tuple[str, ...]
    gold: int
    answer: str
    evidence: tuple[str, ...]
    reason: str | None = None
    previous: str | None = None


@dataclass(frozen=True)
class Trajectory:
    """One user's messages and the questions about them. The id is unique in a domain and is also the episode id.

    A trajectory with a `reason` is quarantined: its steps are not played and its questions are not asked.
    """

    trajectory_id: str
    dataset: str
    scene: Scene
    kind: QuestionKind
    scenario: str
    language: str
    steps: tuple[Step, ...]
    questions: tuple[ChoiceQuestion, ...] = ()
    reason: str | None = None

    def message_id(self, step: int, role: str = "user") -> str:
        """Return the message id `TRAJECTORY/SESSION.STEPu`, or `...a` for the assistant. Steps are numbered from 0."""
        said = self.steps[step]
        below = f"{self.trajectory_id}/{NOISE}" if said.noise else self.trajectory_id
        return f"{below}/{said.session}.{step}{role[0]}"

    def evidence_id(self, step: int) -> str:
        """Return the id of the evidence message of a step: the user's or the assistant's, as `kind` states."""
        spoken = self.steps[step].assistant is not None
        return self.message_id(step, self.kind.evidence_role if spoken else "user")


def turn_rows(domain: str, trajectory: Trajectory) -> Iterator[Turn]:
    """Yield the messages of a trajectory as rows: one event per step, all before checkpoint 0."""
    for number, step in enumerate(trajectory.steps):
        said = [("user", step.user)] + ([("assistant", step.assistant)] if step.assistant is not None else [])
        for position, (role, text) in enumerate(said):
            told = step.exposes is not None and trajectory.message_id(number, role) == trajectory.evidence_id(
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


def scenario_of(trajectory_id: str) -> str:
    """Return the scenario of a trajectory, which is the second-last part of its id."""
    return trajectory_id.split("/")[-2]


def is_noise(message_id: str) -> bool:
    """Return whether a message is noise."""
    return f"/{NOISE}/" in message_id


def session_of(message_id: str) -> str:
    """Return the common prefix of the message ids of a session."""
    return message_id.rpartition(".")[0]
