"""Conversion of a trajectory's questions to probe rows. `published/` and `generation/` build the questions."""

from collections.abc import Iterator

from memflow.benchmarks.membench.turns import Trajectory
from memflow.records import Probe


def probe_rows(domain: str, trajectory: Trajectory) -> Iterator[Probe]:
    """Yield the questions of a trajectory as probes at checkpoint 0."""
    for number, question in enumerate(trajectory.questions):
        yield Probe(
            domain=domain,
            probe_id=f"{trajectory.trajectory_id}/q{number}",
            episode_id=trajectory.trajectory_id,
            checkpoint=0,
            kind="choice",
            dataset=trajectory.dataset,
            category=trajectory.kind.name,
            language=trajectory.language,
            asked_at=question.asked_at,
            metric="accuracy",
            question=question.question,
            options=list(question.options),
            variables=[],
            gold=str(question.gold),
            revealed=question.answer,
            previous=question.previous,
            evidence=list(question.evidence),
            reason=question.reason or trajectory.reason,
        )
