"""The check of LongMemEval's questions. `memflow data` compares the counts of the published files."""

from collections.abc import Sequence

from memflow.benchmarks.longmemeval.types import is_abstention
from memflow.checks.rules import WholeTable, add_descriptions, expect
from memflow.records import Probe


def without_evidence(probes: Sequence[Probe]) -> list[int]:
    """Return the positions of answerable probes without an evidence session in the history."""
    return [at for at, probe in enumerate(probes) if not probe.revealed and not is_abstention(probe.probe_id)]


EXPECTED = add_descriptions(
    expect("question.probes", {"evidence_session_in_history": WholeTable(without_evidence)}),
    "memflow.benchmarks.longmemeval",
)
