"""What is judged of a session: its points, the texts that were written, searches for updates, and its questions.

A point is a probe of kind `written` or, if it is an update, `search` with its new text as the query. The texts of a
session are one more probe of kind `written`. Evidence names facts and no messages, so `Probe.evidence` is empty.
"""

import json
from collections.abc import Iterator
from typing import Any

from memflow.benchmarks.halumem import names
from memflow.benchmarks.halumem.load import (
    MemoryPoint,
    PublishedQuestion,
    PublishedSession,
    PublishedUser,
    date_of,
)
from memflow.benchmarks.partial import InvalidPart
from memflow.records import Probe

TEXTS = "texts of a session"
"""The category of the probe of the texts that a session's writes added."""
NOTHING_KNOWN = "Nothing is known about this."
_POINT = "Is it among what the writes of the session added?"


def make_probes(domain: str, dataset: str, user: PublishedUser) -> Iterator[Probe]:
    """Yield the probes of a user by session. An invalid point or question is a probe with a reason."""
    for number, session in enumerate(user.sessions):
        if not isinstance(session, PublishedSession) or session.is_generated_qa_session:
            continue
        place = {"domain": domain, "episode_id": user.uuid, "checkpoint": number, "dataset": dataset}
        name = f"{user.uuid}/session{number}"
        common: dict[str, Any] = {
            **place,
            "asked_at": date_of(session.end_time or session.messages()[-1].timestamp)
            if session.messages()
            else None,
            "options": [],
            "variables": [],
            "evidence": [],
        }
        yield _texts_probe(name, session, common)
        for position, point in enumerate(session.memory_points):
            yield _point_probe(f"{name}/point{position}", point, common)
        for position, question in enumerate(session.questions):
            yield _question_probe(f"{name}/question{position}", question, common)


def importance_of(probe: Probe) -> float:
    """Return the importance of the point of a probe, as published, at least 0."""
    return float(_slice(probe, "importance"))


def source_of(probe: Probe) -> str:
    """Return the source of the point of a probe, such as `interference`."""
    return _slice(probe, "source")


def _slice(probe: Probe, name: str) -> str:
    return next(text.removeprefix(f"{name} ") for text in probe.slices if text.startswith(f"{name} "))


def _texts_probe(name: str, session: PublishedSession, common: dict[str, Any]) -> Probe:
    points = [point.memory_content for point in session.points() if not point.is_interference]
    gold = {"dialogue": session.text(), "points": points}
    return Probe(
        **common,
        probe_id=f"{name}/texts",
        kind="written",
        category=TEXTS,
        metric=names.ACCURACY,
        question="Which texts did the writes of the session add?",
        gold=json.dumps(gold, ensure_ascii=False),
        revealed="\n".join(points),
    )


def _point_probe(name: str, point: MemoryPoint | InvalidPart, common: dict[str, Any]) -> Probe:
    if isinstance(point, InvalidPart):
        return Probe(
            **common, probe_id=name, kind="written", metric=names.RECALL, question=_POINT, gold="", revealed="",
            reason=f"{name}: {point.fault}",
        )  # fmt: skip
    searched = point.is_searched
    metric = (
        names.UPDATE["Correct"] if searched else names.RESISTANCE if point.is_interference else names.RECALL
    )
    return Probe(
        **common,
        probe_id=name,
        kind="search" if searched else "written",
        category=point.memory_type,
        metric=metric,
        question=point.memory_content if searched else _POINT,
        gold=point.memory_content,
        revealed=point.memory_content,
        previous="\n".join(point.original_memories) or None,
        slices=[f"importance {point.importance!r}", f"source {point.memory_source}"],
    )


def _question_probe(name: str, question: PublishedQuestion | InvalidPart, common: dict[str, Any]) -> Probe:
    if isinstance(question, InvalidPart):
        return Probe(
            **common, probe_id=name, kind="open", metric=names.ANSWER["Correct"], question="", gold="", revealed="",
            reason=f"{name}: {question.fault}",
        )  # fmt: skip
    facts = [fact.memory_content for fact in question.evidence]
    return Probe(
        **common,
        probe_id=name,
        kind="open",
        category=question.question_type,
        metric=names.ANSWER["Correct"],
        question=question.question,
        gold=question.answer,
        revealed="\n".join(facts) or NOTHING_KNOWN,
        slices=[f"difficulty {question.difficulty}"] if question.difficulty else [],
    )
