"""Conversion of cases to probes: test probes, and training probes, whose answers get feedback from simulated users.

The evidence is messages of the corpus, or the first complaints of users about related training cases.
"""

from collections.abc import Sequence

from memflow.benchmarks.memorybench.selection import DIALOGUES, SelectedPool
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.benchmarks.memorybench.turns import message_id
from memflow.records import Probe


def probes(domain: str, selection: Sequence[SelectedPool]) -> list[Probe]:
    """Return all probes of the domain, ordered by pool. In each pool, test probes come before training probes."""
    return [
        _probe(domain, used.pool, case, part)
        for used in selection
        for part, cases in (("test", used.test), ("train", used.train))
        for case in cases
    ]


FEEDBACK = "feedback/"
"""Prefix of the ids of all dialogue messages."""


def feedback_id(probe_id: str, number: int, step: int | None = None) -> str:
    """Return the id of a message in a training dialogue: 0 is the question, 1 the answer, 2 the first critique.

    With the `on_policy` protocol, ids of a repeated case contain its `step`.
    """
    return f"{FEEDBACK}{probe_id}{'' if step is None else f'@{step}'}/{number}"


def case_of(message_id: str) -> str | None:
    """Return the case of a dialogue message, or None for a message of a corpus."""
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
