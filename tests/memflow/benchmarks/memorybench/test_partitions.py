"""Cells per partition: compared domains and missing scores."""

from dataclasses import replace

import factories

from memflow.benchmarks.memorybench.domains import DOMAINS
from memflow.benchmarks.memorybench.partitions import NOT_MEASURED, cells, partitions
from memflow.benchmarks.registry import find_domain

SCORE = factories.score(
    domain="memorybench_legal", assistant="rag", memory="rag", metric="min_max", value=0.5, low=0.4, high=0.6,
    interval_units="cases", deviation=0.2, n=50,
)  # fmt: skip
LEGAL, OPEN = find_domain("memorybench_legal"), find_domain("memorybench_open")
LOST = {**dict.fromkeys(("value", "low", "high", "deviation")), "reason": "only 1 of 4 probes have a score"}


def both(**given):
    """Return the two scores of a cell: the z score is twice the min-max score."""
    min_max = replace(SCORE, **given)
    z_score = None if min_max.value is None else 2 * min_max.value
    return [min_max, replace(min_max, metric="z_score", value=z_score)]


def test_partitions_returns_the_seven_off_policy_domains_of_the_paper():
    assert [domain.name for domain in partitions(DOMAINS)] == [
        f"memorybench_{name}" for name in ("open", "legal", "academic", "liso", "silo", "lilo", "siso")
    ]


def test_every_assistant_has_one_cell_per_partition_with_reason_if_not_measured():
    scores = [
        *both(),
        *both(domain="memorybench_open", **LOST),
        *both(assistant="none", value=0.25),
        *both(value=0.9, variant="pooled"),
        *both(value=0.8, slice="macro"),
    ]
    found = cells(scores, [LEGAL, OPEN])
    assert [(cell.assistant, cell.partition, cell.reason) for cell in found] == [
        ("none", "legal", None),
        ("none", "open", NOT_MEASURED),
        ("rag", "legal", None),
        ("rag", "open", "only 1 of 4 probes have a score"),
    ]
    values = [(cell.min_max.value, cell.z_score.value) for cell in (found[0], found[2])]
    assert values == [(0.25, 0.5), (0.5, 1.0)]
    [macro] = [cell for cell in cells(scores, [LEGAL], slice_="macro") if cell.assistant == "rag"]
    assert macro.min_max.value == 0.8
    [pooled] = cells(scores, [LEGAL], variant="pooled")
    assert pooled.min_max.value == 0.9


def test_macro_average_cell_without_score_has_reason():
    [cell] = cells(both(**LOST), [LEGAL], slice_="macro")
    assert cell.reason == "only 1 of 4 probes have a score"
