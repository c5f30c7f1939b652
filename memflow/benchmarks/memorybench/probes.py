"""Cases as probes with their gold: test probes, and training cases to gather feedback on.

A question about a corpus rests on messages of it; a case without one may rest on what users of training cases said in
their feedback, and then its evidence is the message in which such a user first complains.
"""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.selection import DIALOGUES, Taken
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.benchmarks.memorybench.turns import message_id
from memflow.records import Probe


def probes(domain: str, selection: Sequence[Taken]) -> list[Probe]:
    """Every probe of the domain: of each pool test, then training."""
    return [
        _probe(domain, taken.pool, case, part)
        for taken in selection
        for part, cases in (("test", taken.test), ("train", taken.train))
        for case in cases
    ]


FEEDBACK = "feedback/"
"""What the ids of all messages of dialogues begin with."""


def feedback_id(probe_id: str, number: int, step: int | None = None) -> str:
    """Message id in a training case's dialogue: 0 is the question, 1 the answer, 2 the first critique.

    A case that is drawn again on-policy has a further dialogue, whose ids name its `step`.
    """
    return f"{FEEDBACK}{probe_id}{'' if step is None else f'@{step}'}/{number}"


def case_of(message_id: str) -> str | None:
    """The case whose dialogue a message is of; None for a message of a corpus."""
    if not message_id.startswith(FEEDBACK):
        return None
    name = message_id.removeprefix(FEEDBACK).rpartition("/")[0]
    case, _, step = name.rpartition("@")
    return case if case and step.isdecimal() else name


def _probe(domain: str, pool: Pool, case: Case, part: str) -> Probe:
    if pool.corpus:
        evidence = [message_id(pool.name, said) for said in case.evidence]
    else:
        evidence = [feedback_id(f"{pool.name}/{needed}", 2) for needed in case.rests_on]
    return Probe(
        domain=domain,
        probe_id=pool.probe_id(case),
        episode_id=pool.name if pool.corpus else DIALOGUES,
        checkpoint=0,
        kind="open",
        split=part,
        dataset=pool.task.name,
        category=case.category,
        language=case.language,
        asked_at=case.asked_at,
        metric=pool.task.metric,
        question=case.question,
        options=list(case.options),
        variables=[],
        gold=case.gold,
        revealed=case.revealed,
        evidence=evidence,
        reason=case.reason,
    )
