"""Missing data in the stored results of a domain and an assistant, from the metadata of their partitions.

The text for a domain is stored with its probes, and the text for an assistant with its verdicts, so that publishing the
leaderboard reads no other table. memflow/scoring/completeness.py formats the texts.
"""

from memflow.benchmarks import registry
from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.pipeline import partition_key
from memflow.records import NOT_MEASURABLE, UNASKED
from memflow.resources.data.library import Library
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.lake import Lake
from memflow.scoring.completeness import INCOMPLETE, dataset_gap, join_gaps, limit_gap, quarantine_gap

QUARANTINED = {
    "state.profiles": "users",
    "utterance.turns": "messages",
    "feedback.sessions": "rounds of feedback",
}
"""The tables of a domain, except its probes, whose quarantined rows make its results incomplete."""
FAILED = {
    "memory.transcripts": "messages",
    "memory.feedback": "rounds of feedback",
    "answer.replies": "replies",
}
"""The tables of an assistant with items that may have failed."""


def domain_gaps(domain: Domain, lake: Lake, library: Library) -> str | None:
    """Return a text on missing data sets and files, the limit, and quarantined rows except probes; None without any."""
    stored = set(lake.partitions("raw.records"))
    found = [name for name in domain.datasets if name in stored]
    benchmark = registry.benchmark(domain.benchmark)
    optional = [f"{file} of {name}" for name in found for file in library.dataset(name).optional]
    size, left_out = None, None
    if domain.limit:
        records = lake.read_all("raw.records", found)
        size, left_out = benchmark.size(domain, records), benchmark.left_out(domain, records)
    unit = registry.spec_of(domain.benchmark).unit
    rows = [(lake.intact_facts("raw.records", name), "records") for name in found]
    rows += [(lake.intact_facts(table, domain.name), what) for table, what in QUARANTINED.items()]
    return join_gaps(
        [
            dataset_gap([name for name in domain.datasets if name not in stored], len(domain.datasets)),
            f"without the optional files {', '.join(optional)}" if optional else None,
            *(_part_gap(benchmark, library.dataset(name), lake) for name in found),
            limit_gap(domain.limit, size, unit),
            left_out,
            *(quarantine_gap(facts.quarantined, facts.rows, what) for facts, what in rows if facts),
        ]
    )


def _part_gap(benchmark: Benchmark, dataset: Dataset, lake: Lake) -> str | None:
    """Return a text on how many published items a partial data set contains; None if the data set is complete."""
    if not dataset.partial or not dataset.counts:
        return None
    unit, published = next(iter(dataset.counts.items()))
    count = benchmark.contents(dataset, lake.read("raw.records", dataset.name)).counts.get(unit, 0)
    return f"{count:,} of {published:,} published {unit} of {dataset.name}" if count < published else None


def assistant_gaps(domain: str, assistant: str, lake: Lake) -> str | None:
    """Return a text on an assistant's failed dialogue messages, rounds of feedback and replies; None without any."""
    gaps = []
    for table, what in FAILED.items():
        facts = lake.intact_facts(table, partition_key(domain, assistant))
        if facts is not None and facts.quarantined:
            failed = facts.quarantined
            if table == "answer.replies":
                failed -= _unfailed(domain, partition_key(domain, assistant), lake)
            gaps.append(quarantine_gap(failed, facts.rows, what, "failed"))
    return join_gaps(gaps)


def all_gaps(probes: Facts | None, verdicts: Facts | None) -> str | None:
    """Return a text on the data missing from results, given the metadata of the domain's probes and of the verdicts.

    Without `verdicts`, the text is on the domain only.
    """
    gaps = []
    if probes is not None:
        gaps += [probes.meta.get(INCOMPLETE), quarantine_gap(probes.quarantined, probes.rows, "probes")]
    if verdicts is not None:
        gaps.append(verdicts.meta.get(INCOMPLETE))
    return join_gaps(gaps)


def _unfailed(domain: str, partition: str, lake: Lake) -> int:
    """Return the number of replies with a reason although nothing failed: quarantined, or not measurable."""
    probes = list(lake.columns("question.probes", domain, ("split", "reason", "kind")))
    quarantined = sum(split == "test" and reason is not None for split, reason, _ in probes)
    if not any(kind in UNASKED for _, _, kind in probes):
        return quarantined
    reasons = lake.columns("answer.replies", partition, ("reason",))
    return quarantined + sum(
        reason is not None and reason.startswith(NOT_MEASURABLE) for (reason,) in reasons
    )
