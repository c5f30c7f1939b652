"""The questions as probes, each asked after the last session of its history."""

from memflow.benchmarks.longmemeval.history import Chunk, lay_out
from memflow.benchmarks.longmemeval.instances import Instance
from memflow.records import Probe


def probe_row(domain: str, dataset: str, instance: Instance) -> Probe:
    """Return the question of an instance, asked after the last session whatever its date.

    In three published questions (2133c1b5, e61a7584, 7a87bd0c) an evidence session is dated hours after the question.
    """
    return Probe(
        domain=domain,
        probe_id=instance.question_id,
        episode_id=instance.key,
        checkpoint=0,
        kind="open",
        dataset=dataset,
        category=instance.question_type,
        asked_at=instance.question_date,
        metric="accuracy",
        question=instance.question,
        options=[],
        variables=[],
        gold=str(instance.answer),
        revealed=gold_context(instance),
        evidence=evidence_ids(instance),
    )


def evidence_ids(instance: Instance) -> list[str]:
    """Return the ids of the marked messages of both roles."""
    return [
        instance.message_id(session, place)
        for session in instance.sessions()
        for place, message in instance.played(session)
        if message.has_answer
    ]


def gold_context(instance: Instance) -> str:
    """Return the evidence sessions as text, for the memory `oracle`."""
    return lay_out(
        [
            Chunk(session.date, [(message.role, message.content) for _, message in instance.played(session)])
            for session in instance.evidence_sessions()
        ]
    )
