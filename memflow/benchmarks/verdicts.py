"""Accuracy verdicts for multiple-choice benchmarks.

Unparsed answers and quarantined probes have a null value with a reason. The metric `unparsed` distinguishes the two.
The published code counts both as wrong.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import graded
from memflow.errors import BadInput
from memflow.records import Probe, Reply, Verdict

UNPARSED = "unparsed"
"""Metric: 1 if a reply could not be parsed, else 0."""


def choice_verdicts(domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply]) -> list[Verdict]:
    """Return two verdicts per probe, the probe's metric and `unparsed`, in the order of `probes`."""
    assistant = only_assistant(domain, replies)
    replies_by_probe = {reply.probe_id: reply for reply in replies}

    def of(probe: Probe) -> Iterator[Verdict]:
        reply = replies_by_probe.get(probe.probe_id)
        value, reason = graded(probe, reply)
        yield verdict_row(domain, assistant, probe, probe.metric, value, reason)
        has_answer = probe.reason is None and reply is not None and reply.text is not None
        unparsed = float(value is None) if has_answer else None
        yield verdict_row(domain, assistant, probe, UNPARSED, unparsed, None if has_answer else reason)

    return [row for probe in probes for row in of(probe)]


def only_assistant(domain: Domain, replies: Sequence[Reply]) -> str:
    """Return the assistant of the replies. Raises BadInput unless all replies have the same assistant."""
    assistants = sorted({reply.assistant for reply in replies})
    if len(assistants) != 1:
        raise BadInput(
            f"domain {domain.name}: the replies come from {assistants or 'no assistant'} instead of one "
            "assistant. Score the replies of each assistant separately."
        )
    return assistants[0]


def verdict_row(
    domain: Domain,
    assistant: str,
    probe: Probe,
    metric: str,
    value: float | None,
    reason: str | None,
    **more: Any,
) -> Verdict:
    """Return the verdict of one metric on the reply to a probe. `more` contains the values of further columns."""
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
        **more,
    )
