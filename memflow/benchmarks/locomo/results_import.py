"""Import of published answers to LoCoMo's questions: the published label is the value of J under the judge's contract.

The labels of a contract that memflow does not have are the metric `j_recorded`, with the contract in brackets. An
answer without a label has no J; the variant `unlabeled_as_wrong` counts it as wrong, as vendors do. memflow computes F1
and BLEU-1. published_runs reads the files.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.locomo.judging import CONTRACTS, UNLABELED
from memflow.benchmarks.locomo.metrics import J_RECORDED
from memflow.benchmarks.locomo.verdicts import WORD_METRICS, word_values
from memflow.benchmarks.multiple_choice import ungradable_reason
from memflow.benchmarks.published_results import Sources, import_published
from memflow.benchmarks.verdicts import verdict_row
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.metrics.overlap import set_f1
from memflow.published_runs.rows import NO_LABEL, PublishedAnswer, PublishedRun
from memflow.records import Probe, Reply, Verdict

NOT_JUDGED = "the recorded answer was not judged; import the results with `--judge`"
NO_TEXT = "the recorded run has a label, but not the answer"
ROUNDING = 1e-9


def import_results(reader: Reader, domain: Domain, path: Path) -> ImportedResults:
    """Return a system's answers as replies and verdicts of the assistant `imported_NAME@MODEL`. Raises BadInput."""
    faults: list[str] = []

    def verdicts(
        assistant: str, probe: Probe, reply: Reply, answer: PublishedAnswer | None, run: PublishedRun
    ) -> Iterator[Verdict]:
        """Yield the label, the label with failed judgments as wrong, and the computed metrics of a reply."""

        def row(metric: str, value: float | None, reason: str | None) -> Verdict:
            return verdict_row(domain, assistant, probe, metric, value, reason)

        if answer is not None and _has_other_f1(answer):
            faults.append(f"{answer.place}: the recorded F1 is not that of the answer")
        reason = ungradable_reason(probe, reply)
        if run.contract:
            label = None if answer is None or reason is not None else answer.label
            label_reason = reason or (None if label is not None else _unlabeled(answer))
            metric = contract_metric(run.contract)
            yield row(metric, label, label_reason)
            # In the variant UNLABELED, an answer on which the judge gave no label counts as wrong.
            judge_failed = answer is not None and (answer.label_reason or "").startswith(NO_LABEL)
            if judge_failed and reason is None:
                label, label_reason = 0.0, None
            yield replace(row(metric, label, label_reason), variant=UNLABELED)
        if reason is not None or reply.text is None:
            yield from (row(metric, None, reason or NO_TEXT) for metric in WORD_METRICS)
        else:
            for value in word_values(probe, reply.text):
                yield row(value.metric, value.value, None)

    results = import_published(reader, domain, path, verdicts, lambda: _sources(reader, domain), _other_gold)
    return replace(results, faults=[*results.faults, *faults])


def contract_metric(contract: str) -> str:
    """Return the metric of the labels of a judge contract."""
    if contract in CONTRACTS:
        return contract
    return f"{J_RECORDED}[{re.sub(r'[^a-z0-9]+', '_', contract.lower()).strip('_')}]"


def _unlabeled(answer: PublishedAnswer | None) -> str:
    """Return why an answer has no label: the judge's failure, a recorded error, or NOT_JUDGED."""
    reason = "" if answer is None else answer.label_reason or ""
    return reason if reason.startswith(NO_LABEL) or ":" in reason else NOT_JUDGED


def _other_gold(probe: Probe, answer: PublishedAnswer) -> str | None:
    """Return a reason if the answer was judged by another gold, to which the recorded label belongs."""
    # The published gold of category 3 may end at the first semicolon. Adversarial questions have our gold.
    golds = {probe.gold, probe.gold.partition(";")[0].strip()} if probe.category == "3" else {probe.gold}
    if probe.category == "5" or answer.gold is None or answer.gold in golds:
        return None
    return "the gold answer of the recorded question is not that of the probe"


def _has_other_f1(answer: PublishedAnswer) -> bool:
    """Return whether the recorded F1 of word sets is not that of the answer."""
    recorded, computed = answer.metrics.get("set_f1"), set_f1(answer.answer or "", answer.gold or "")
    return recorded is not None and abs(computed - recorded) > ROUNDING


def _sources(reader: Reader, domain: Domain) -> Sources:
    """Return a function to the messages of retrieved ids: of messages, or of all messages of retrieved sessions."""
    sessions: dict[str, list[str]] = {}
    if reader.facts("utterance.turns", domain.name) is not None:
        for turn in reader.rows("utterance.turns", domain.name):
            sessions.setdefault(turn.message_id.rpartition(":")[0], []).append(turn.message_id)

    def sources(probe: Probe, answer: PublishedAnswer) -> list[list[str]]:
        """Return the message ids of each retrieved item; of a session without turns, its evidence messages."""
        if answer.messages:
            return [[f"{probe.episode_id}/{message}"] for message in answer.messages]
        messages = []
        for session_number in answer.sessions:
            session = f"{probe.episode_id}/D{session_number}"
            evidence = [message for message in probe.evidence if message.startswith(f"{session}:")]
            messages.append(sessions.get(session, evidence))
        return messages

    return sources
