"""Import of recorded replies with labels, in the form of the published evaluation script.

The labels are those of the log: memflow asks no judge. recorded_answers.py reads the file.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.recorded_answers import LabeledReply, read_labels
from memflow.benchmarks.longmemeval.types import ACCURACY
from memflow.benchmarks.verdicts import verdict_row
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.errors import BadInput
from memflow.records import Probe, Reply, Verdict

MISSING = "the log has no label for this question"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")


def import_results(reader: Reader, domain: Domain, file: Path) -> ImportedResults:
    """Return the replies and labels of a log as those of the assistant `imported_FILE@recorded`.

    A question without a label has a reply with a reason. Raises BadInput if the domain has no probes, or if the log has
    no question of the domain.
    """
    if reader.facts("question.probes", domain.name) is None:
        raise BadInput(
            f"the lake has no probes of {domain.name}. Generate them with `memflow run --domain {domain.name} --memory "
            "none`, then import the results."
        )
    probes: list[Probe] = [
        probe for probe in reader.rows("question.probes", domain.name) if probe.split == "test"
    ]
    labeled, problems = read_labels(file)
    labels = {each.question_id: each for each in labeled}
    others = len(labels.keys() - {probe.probe_id for probe in probes})
    if others == len(labels):
        raise BadInput(
            f"{file}: none of its {others} questions is in {domain.name}. Use the domain that it was recorded with."
        )
    assistant = f"imported_{_NOT_IN_NAMES.sub('_', file.name.partition('.')[0]).lower()}@recorded"
    judges = Counter(each.autoeval_label.model or "unknown" for each in labeled)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    faults = [*problems, *([f"labels of {others} questions that are not in {domain.name}"] if others else [])]
    return ImportedResults(
        assistant=assistant,
        model="recorded",
        source=f"labels in {file.name}, content hash {digest}, judged by {', '.join(sorted(judges))}",
        settings={"judges": dict(judges)},
        replies=[_reply(domain, assistant, probe, labels.get(probe.probe_id)) for probe in probes],
        verdicts=list(_verdicts(domain, assistant, probes, labels)),
        faults=faults,
    )


def _reply(domain: Domain, assistant: str, probe: Probe, label: LabeledReply | None) -> Reply:
    return Reply(
        domain=domain.name,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        text=label.hypothesis if label else None,
        parsed=label.hypothesis if label else None,
        recalled=[],
        recalled_sources=[],
        reason=None if label else MISSING,
    )


def _verdicts(
    domain: Domain, assistant: str, probes: Sequence[Probe], labels: Mapping[str, LabeledReply]
) -> Iterator[Verdict]:
    for probe in probes:
        label = labels.get(probe.probe_id)
        value = None if label is None else float(label.autoeval_label.label)
        yield verdict_row(domain, assistant, probe, ACCURACY, value, None if label else MISSING)
