"""Where the attribution of failures by evidence and by state probes contradict each other."""

import pytest
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


@pytest.mark.parametrize(
    ("by_evidence", "by_state_probes", "said"),
    [
        ((0.0, 0.854, 0.0), (0.75, 0.0, 0.1), "read failure is 0.854 by evidence and 0.000 by state probes: a"),
        ((0.5, 0.0, 0.0), (0.2, 0.25, 0.1), "write failure is 0.500 by evidence and 0.200 by state probes: by"),
    ],
)  # fmt: skip
def test_failure_that_only_one_attribution_finds_is_said(by_evidence, by_state_probes, said):
    [line] = contradictions(rates("a", by_evidence, by_state_probes))
    assert line.startswith(f"a: {said}")


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
