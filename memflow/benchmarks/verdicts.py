"""Verdicts: the values of metrics on replies as rows, values of several judges, and accuracy of multiple choice.

Unparsed answers and quarantined probes have a null value with a reason. The metric `unparsed` distinguishes the two.
The published code counts both as wrong.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import grade
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import STANDARD, JudgedValue, judge_variant, mean_of_judges, rows_of_judges

UNPARSED = "unparsed"
"""Metric: 1 if a reply could not be parsed, else 0."""
NO_JUDGE = "no judge is configured; set its model under `roles` in memflow.toml"


@dataclass(frozen=True, slots=True)
class MetricValue:
    """The value of a metric and variant on a reply, or None with the reason. The fields are columns of a verdict."""

    metric: str
    value: float | None
    reason: str | None = None
    variant: str = STANDARD
    completion: str | None = None
    """Digest of the judge's completion in the ledger, if a judge decided."""
    item: str | None = None
    judge_reply: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The metric and the variant."""
        return self.metric, self.variant


def judges_of(backends: MetricBackends) -> Mapping[str, Chat]:
    """Return the judges by name, empty without one; a single judge may have an empty name."""
    return backends.judges or ({"": backends.judge} if backends.judge else {})


def values_of_judges(
    by_judge: Mapping[str, Sequence[MetricValue]], judged: Collection[str] | None = None
) -> list[MetricValue]:
    """Return the mean over judges of each value, followed by the values of each judge if there are several.

    `judged` has the metrics that judges decide; without it, they decide all.
    """

    def mean(values: Mapping[str, MetricValue]) -> MetricValue:
        combined = mean_of_judges({name: JudgedValue(row.value, row.reason) for name, row in values.items()})
        first = next(iter(values.values()))
        return replace(first, value=combined.value, reason=combined.reason, completion=None, judge_reply=None)

    return rows_of_judges(
        by_judge,
        lambda row: judged is None or row.metric in judged,
        mean,
        lambda row, judge: replace(row, variant=judge_variant(row.variant, judge)),
    )


def verdict_rows(
    domain: Domain, assistant: str, probes: Iterable[Probe], values: Iterable[Iterable[MetricValue]]
) -> list[Verdict]:
    """Return the verdicts of an assistant, given the values of each probe."""
    return [
        verdict_row(domain, assistant, probe, **asdict(value))
        for probe, of_probe in zip(probes, values, strict=True)
        for value in of_probe
    ]


def choice_verdicts(domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply]) -> list[Verdict]:
    """Return two verdicts per probe, the probe's metric and `unparsed`, in the order of `probes`."""
    assistant = only_assistant(domain, replies)
    replies_by_probe = {reply.probe_id: reply for reply in replies}

    def of(probe: Probe) -> Iterator[Verdict]:
        reply = replies_by_probe.get(probe.probe_id)
        value, reason = grade(probe, reply)
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
