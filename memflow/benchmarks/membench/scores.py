"""Replies to verdicts: the accuracy of each answer (paper, section 3.4).

An answer that does not parse, and a probe that could not be asked, are verdicts without a value and with the reason;
the published code counts them as wrong. Which of the two it is, the verdict `unparsed` says. What verdicts add up to is
figures.py; how much of the evidence was recalled, memflow/attribution.py.
"""

from collections.abc import Iterator, Sequence

from memflow.domains import Domain
from memflow.errors import BadInput
from memflow.metrics.choice import accuracy
from memflow.records import Probe, Reply, Verdict

UNPARSED = "unparsed"
"""The metric of whether a reply came and no answer could be read in it: 1 or 0."""


def make_verdicts(domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply]) -> list[Verdict]:
    """Two verdicts per probe, in the order of `probes`."""
    assistants = sorted({reply.assistant for reply in replies})
    if len(assistants) != 1:
        raise BadInput(
            f"domain {domain.name}: replies of one assistant are needed, not of {assistants or 'none'}"
        )
    given = {reply.probe_id: reply for reply in replies}

    def of(probe: Probe) -> Iterator[Verdict]:
        reply = given.get(probe.probe_id)
        value, reason = _grade(probe, reply)
        yield _verdict(domain, assistants[0], probe, probe.metric, value, reason)
        said = probe.reason is None and reply is not None and reply.text is not None
        unparsed = float(value is None) if said else None
        yield _verdict(domain, assistants[0], probe, UNPARSED, unparsed, None if said else reason)

    return [row for probe in probes for row in of(probe)]


def _grade(probe: Probe, reply: Reply | None) -> tuple[float | None, str | None]:
    if probe.reason is not None:
        return None, f"the probe is quarantined: {probe.reason}"
    if reply is None:
        return None, f"{probe.probe_id} was not answered; materialize the replies again"
    if reply.parsed is None:
        return None, reply.reason or "no answer could be read in the reply"
    try:
        return accuracy(reply.parsed, probe.gold, len(probe.options)), None
    except BadInput as wrong:
        return None, str(wrong)


def _verdict(
    domain: Domain, assistant: str, probe: Probe, metric: str, value: float | None, reason: str | None
) -> Verdict:
    return Verdict(
        domain=domain.name,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        dataset=probe.dataset,
        category=probe.category,
        metric=metric,
        value=value,
        reason=reason,
    )
