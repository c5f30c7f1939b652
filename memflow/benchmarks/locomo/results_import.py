"""Import of published answers to LoCoMo's questions: the published label is the value of J.

An answer without a label has no J; the variant `unlabeled_as_wrong` counts it as wrong, as vendors do.

A recorded conversation belongs to the episode with most of its questions, and an answer to the probe of its question.
The n-th answer to a question that occurs several times belongs to its n-th probe. memflow computes F1 and BLEU-1.
recorded_answers.py reads the files.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.locomo.judging import UNLABELED
from memflow.benchmarks.locomo.recorded_answers import read_answers
from memflow.benchmarks.locomo.recorded_forms import RecordedAnswer, RecordedAnswers
from memflow.benchmarks.locomo.verdicts import WORD_METRICS, missing_answer, word_values
from memflow.benchmarks.verdicts import verdict_row
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.errors import BadInput
from memflow.metrics.overlap import set_f1
from memflow.records import Probe, Reply, Verdict

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
MISSING = "the recorded run has no valid answer"
NO_LABEL = "the judge of the recorded run gave no label"
NOT_JUDGED = "the recorded answer was not judged; import the results with `--judge`"
ROUNDING = 1e-9


def import_results(reader: Reader, domain: Domain, path: Path) -> ImportedResults:
    """Return a system's answers as replies and verdicts of the assistant `imported_NAME@MODEL`.

    NAME is the name of the file. A missing or contradictory answer becomes a reply with a reason. Raises BadInput if
    the domain has no probes, or if the file has no answers to the domain's questions.
    """
    if reader.facts("question.probes", domain.name) is None:
        raise BadInput(
            f"the lake has no probes of {domain.name}. Generate them with `memflow run --domain {domain.name} --memory "
            "none`, then import the results."
        )
    probes = [probe for probe in reader.rows("question.probes", domain.name) if probe.split == "test"]
    recorded = read_answers(path)
    name, model = (_NOT_IN_NAMES.sub("-", part) for part in (recorded.name, recorded.model))
    matches = _Matches.from_answers(domain, f"imported_{name}@{model}", probes, recorded)
    if not matches.answers:
        raise BadInput(
            f"{path} has no answer to a question of {domain.name}. Use a domain of the conversations that the system "
            "was run on, such as `locomo`."
        )
    replies = [matches.reply(probe) for probe in probes]
    return ImportedResults(
        assistant=matches.assistant,
        model=recorded.model,
        source=f"answers and labels ({recorded.contract}) in {path.name}, content hash {recorded.digest}",
        settings={**recorded.settings, "contract": recorded.contract},
        replies=replies,
        verdicts=list(matches.verdicts(replies)),
        faults=[*recorded.faults, *matches.faults],
    )


@dataclass
class _Matches:
    """The recorded answers by probe id. `faults` has a message for each answer without a probe, or with another F1."""

    domain: Domain
    assistant: str
    probes: Sequence[Probe]
    contract: str
    answers: Mapping[str, RecordedAnswer]
    faults: list[str] = field(default_factory=list)

    @classmethod
    def from_answers(
        cls, domain: Domain, assistant: str, probes: Sequence[Probe], recorded: RecordedAnswers
    ) -> "_Matches":
        """Match the answers of each conversation with the probes of the episode that shares most questions."""
        episodes: dict[str, dict[str, list[Probe]]] = {}
        for probe in probes:
            episodes.setdefault(probe.episode_id, {}).setdefault(probe.question, []).append(probe)
        matched, faults = {}, []
        for number, answers in recorded.answers.items():
            unmatched = max(
                episodes.values(),
                key=lambda questions: sum(answer.question in questions for answer in answers),
                default={},
            )
            for answer in answers:
                label = f"conversation {number}: {json.dumps(answer.question[:80])}"
                if probes_of_question := unmatched.get(answer.question):
                    matched[probes_of_question.pop(0).probe_id] = answer
                else:
                    faults.append(f"{label} is no question of {domain.name}, or has more answers than probes")
                if answer.f1 is not None and abs(set_f1(answer.response, answer.gold) - answer.f1) > ROUNDING:
                    faults.append(f"{label}: the recorded F1 is not that of the answer")
        return cls(domain, assistant, probes, recorded.contract, matched, faults)

    def reply(self, probe: Probe) -> Reply:
        """Return the recorded reply to a probe; a reply without a valid recorded answer has a reason."""
        answer = self.answers.get(probe.probe_id)
        reply = Reply(
            domain=self.domain.name,
            assistant=self.assistant,
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=probe.checkpoint,
            text=None if answer is None else answer.response,
            recalled=[],
            recalled_sources=[],
        )
        if answer is None:
            return replace(reply, reason=MISSING)
        if str(answer.category) != probe.category:
            return replace(reply, reason="the category of the recorded question is not that of the probe")
        # The published gold of category 3 may end at the first semicolon. Adversarial questions have our gold.
        golds = {probe.gold, probe.gold.partition(";")[0].strip()} if probe.category == "3" else {probe.gold}
        if probe.category != "5" and answer.gold not in golds:
            return replace(reply, reason="the gold answer of the recorded question is not that of the probe")
        return replace(reply, parsed=answer.response, attempts=1)

    def verdicts(self, replies: Sequence[Reply]) -> Iterator[Verdict]:
        """Yield the label and the computed metrics of each reply."""
        for probe, reply in zip(self.probes, replies, strict=True):
            reason = missing_answer(probe, reply)
            yield from self._label_verdicts(probe, reason)
            if reason is not None:
                yield from (self._verdict(probe, metric, None, reason) for metric in WORD_METRICS)
                continue
            for value in word_values(probe, reply.parsed or ""):
                yield self._verdict(probe, value.metric, value.value, None)

    def _label_verdicts(self, probe: Probe, reason: str | None) -> Iterator[Verdict]:
        """Yield the recorded label, and the variant in which a failed judgment counts as wrong."""
        label = None
        label_reason = unlabeled_reason = reason
        if reason is None:
            answer = self.answers[probe.probe_id]
            label = answer.label
            if label is None:
                label_reason = NO_LABEL if answer.judged else NOT_JUDGED
                unlabeled_reason = None if answer.judged else NOT_JUDGED
        yield self._verdict(probe, self.contract, label, label_reason)
        label_or_wrong = 0.0 if label is None and unlabeled_reason is None else label
        yield replace(
            self._verdict(probe, self.contract, label_or_wrong, unlabeled_reason), variant=UNLABELED
        )

    def _verdict(self, probe: Probe, metric: str, value: float | None, reason: str | None) -> Verdict:
        return verdict_row(self.domain, self.assistant, probe, metric, value, reason)
