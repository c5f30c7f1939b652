"""Verdicts on replies: accuracy, state match, and failure attribution (paper, section 3.3).

An unparsed reply gets a null value and a reason; the published code guesses at random instead. The metric `unparsed`
distinguishes unparsed from missing replies. scoring.py aggregates verdicts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import grade, ungradable_reason
from memflow.benchmarks.verdicts import UNPARSED, only_assistant, verdict_row
from memflow.metrics.diagnosis import Attribution, Unattributed, attribute_by_states
from memflow.records import Probe, Reply, Verdict

FAILURES = {"write": "write_failure", "read": "read_failure", "utilization": "utilization_failure"}
"""The metric of each share of a failure attribution."""
Grade = tuple[float | None, str | None]
"""The value of a reply, or None with the reason."""


def make_verdicts(domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply]) -> list[Verdict]:
    """Return two verdicts per state probe and five per choice probe, in the order of `probes`."""
    assistant = only_assistant(domain, replies)
    replies_by_probe = {reply.probe_id: reply for reply in replies}
    grades = {probe.probe_id: _grade(probe, replies_by_probe.get(probe.probe_id)) for probe in probes}
    attributions = _attributions(probes, replies_by_probe, grades)

    def verdicts_of(probe: Probe) -> Iterator[Verdict]:
        """Yield the verdict of the probe's metric, of UNPARSED and, for a choice probe, of FAILURES."""
        reply, (value, reason) = replies_by_probe.get(probe.probe_id), grades[probe.probe_id]
        yield verdict_row(domain, assistant, probe, probe.metric, value, reason)
        has_text = probe.reason is None and reply is not None and reply.text is not None
        unparsed = float(value is None) if has_text else None
        yield verdict_row(domain, assistant, probe, UNPARSED, unparsed, None if has_text else reason)
        if probe.kind == "choice":
            shares = attributions[probe.probe_id]
            for name, metric in FAILURES.items():
                if isinstance(shares, Unattributed):
                    yield verdict_row(domain, assistant, probe, metric, None, shares.reason)
                else:
                    yield verdict_row(domain, assistant, probe, metric, getattr(shares, name), None)

    return [row for probe in probes for row in verdicts_of(probe)]


def _grade(probe: Probe, reply: Reply | None) -> Grade:
    """Return the grade of a reply: 1 for the gold option, or for exactly the gold state values; otherwise 0."""
    if probe.kind == "choice":
        return grade(probe, reply)
    reason = ungradable_reason(probe, reply)
    if reason is not None or reply is None or reply.parsed is None:
        return None, reason
    return float(json.loads(reply.parsed) == json.loads(probe.gold)), None


def _attributions(
    probes: Sequence[Probe], replies: Mapping[str, Reply], grades: Mapping[str, Grade]
) -> dict[str, Attribution | Unattributed]:
    """Return the failure attribution of every choice probe, computed per user and question over all periods."""
    questions: dict[tuple[str, str], list[Probe]] = {}
    for probe in sorted(probes, key=lambda probe: probe.checkpoint):
        if probe.kind == "choice":
            question = probe.probe_id.rpartition("/")[2]  # a probe id is user/period/question
            questions.setdefault((probe.episode_id, question), []).append(probe)
    stated_values = _StatedValues(probes, replies, grades)
    attributions: dict[str, Attribution | Unattributed] = {}
    for question_probes in questions.values():
        values = [grades[probe.probe_id][0] for probe in question_probes]
        shares = attribute_by_states(
            [json.loads(probe.revealed) for probe in question_probes],
            [stated_values.of(probe) for probe in question_probes],
            [None if value is None else value == 1 for value in values],
        )
        attributions.update(zip((probe.probe_id for probe in question_probes), shares, strict=True))
    return attributions


class _StatedValues:
    """The variable values that an assistant states in its answers to state probes."""

    def __init__(
        self, probes: Sequence[Probe], replies: Mapping[str, Reply], grades: Mapping[str, Grade]
    ) -> None:
        self._by_question: dict[str, Mapping[str, str]] = {}
        self._by_variable: dict[tuple[str, int], dict[str, str]] = {}
        for probe in probes:
            if probe.kind != "state" or grades[probe.probe_id][0] is None:
                continue
            values = json.loads(replies[probe.probe_id].parsed or "{}")
            if probe.parent is not None:
                self._by_question[probe.parent] = values
            else:
                self._by_variable.setdefault((probe.episode_id, probe.checkpoint), {}).update(values)

    def of(self, choice: Probe) -> Mapping[str, str] | None:
        """Return the stated values by variable, at least those of the question; None if an answer is missing."""
        if choice.probe_id in self._by_question:
            return self._by_question[choice.probe_id]
        values = self._by_variable.get((choice.episode_id, choice.checkpoint), {})
        return values if values.keys() >= set(choice.variables) else None
