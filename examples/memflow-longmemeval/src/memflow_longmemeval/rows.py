"""Conversion of instances to turns and probes."""

from collections.abc import Iterator

from memflow.records import Probe, Turn
from memflow_longmemeval.history import Chunk, lay_out
from memflow_longmemeval.instances import Instance


def turn_rows(domain: str, instance: Instance) -> Iterator[Turn]:
    """Yield the messages of a history. A session is one event: its messages arrive together, with its date."""
    for event, session in enumerate(instance.sessions()):
        for position, (place, message) in enumerate(instance.played(session)):
            yield Turn(
                domain=domain,
                episode_id=instance.key,
                checkpoint=0,
                event=event,
                position=position,
                message_id=instance.message_id(session, place),
                kind="given",
                role=message.role,
                text=message.content,
                sent_at=session.date,
            )


def probe_row(domain: str, dataset: str, instance: Instance) -> Probe:
    """Return the question of an instance, asked after the last session whatever its date.

    In three published questions an evidence session is dated hours after the question.
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
