"""Where the attribution of failures by evidence and by state probes contradict each other."""

from factories import score

from memflow.records import BY_EVIDENCE
from memflow.scoring.failure_attributions import (
    NAMES,
    contradictions,
    failure_scores,
    metric_text,
    variant_text,
)
from memflow.scoring.judges import STANDARD


def rates(assistant, by_evidence, by_state_probes, width=0.05):
    """Return the rates of write, read and utilization failures of both attributions, with intervals."""
    return [
        score(
            domain="d", assistant=assistant, metric=name, variant=variant, value=value,
            low=None if width is None else value - width, high=None if width is None else value + width,
        )
        for variant, values in ((BY_EVIDENCE, by_evidence), (STANDARD, by_state_probes))
        for name, value in zip(NAMES, values, strict=True)
    ]  # fmt: skip


def test_reads_that_fail_and_count_as_write_failures_by_state_probes_are_said():
    [line] = contradictions(rates("deaf", (0.0, 0.854, 0.0), (0.75, 0.0, 0.1)))
    assert line.startswith(
        "deaf: read failure is 0.854 by evidence and 0.000 by state probes: a read path that"
    )


def test_entries_that_were_dropped_are_write_failures_by_evidence():
    [line] = contradictions(rates("recent", (0.5, 0.0, 0.0), (0.2, 0.25, 0.1)))
    assert line.startswith(
        "recent: write failure is 0.500 by evidence and 0.200 by state probes: by state probes, a"
    )


def test_no_contradiction_within_noise_without_intervals_or_with_one_attribution_alone():
    far = ((0.0, 0.8, 0.0), (0.8, 0.0, 0.0))
    assert contradictions(rates("a", (0.3, 0.1, 0.0), (0.25, 0.15, 0.0))) == []
    assert contradictions(rates("a", *far, width=None)) == []
    assert contradictions(failure_scores(rates("a", *far), BY_EVIDENCE)) == []


def test_rates_by_state_probes_are_named_so():
    assert metric_text("read_failure") == "read_failure by state probes"
    assert metric_text("accuracy") == "accuracy"
    assert variant_text("read_failure", STANDARD) == "by state probes"
    assert variant_text("accuracy", STANDARD) == STANDARD
