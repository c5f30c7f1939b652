"""Evidence scores: recall, precision and failure shares over the probes that have evidence."""

from collections.abc import Mapping, Sequence

import pytest
from factories import attribution, metric_context

from memflow.metrics.intervals import Units, mean_interval
from memflow.records import BY_EVIDENCE, RECALL_AT_10, FailureAttribution, Score
from memflow.scoring.attribution import NO_EVIDENCE
from memflow.scoring.catalog import is_evidence_score
from memflow.scoring.evidence import evidence_scores

FOUND = {"evidence": 2, "stored": 2, "recalled": 1, "recalled_at_10": 1, "entries": 4, "relevant": 1}


def row(name: str, **values: object) -> FailureAttribution:
    losses = {"loss": 1.0, "write": 0.0, "read": 1.0, "utilization": 0.0}
    return attribution(**{**FOUND, **losses, "probe_id": name, **values})


def unattributed(name: str, reason: str) -> FailureAttribution:
    """Return a row that has only a reason."""
    return attribution(probe_id=name, evidence=0 if reason == NO_EVIDENCE else 2, reason=reason)


def scores(
    rows: Sequence[FailureAttribution],
    slice_name: str = "all",
    slices: Mapping[str, frozenset[str]] | None = None,
) -> dict[str, Score]:
    found = evidence_scores(rows, metric_context(seed=7), slices)
    return {each.metric: each for each in found if each.slice == slice_name}


def test_evidence_scores_are_means_over_probes_with_evidence() -> None:
    other = row("p2", episode_id="u2", recalled=2, recalled_at_10=0, entries=0, relevant=0, loss=0.5, read=0.0,
                utilization=0.5)  # fmt: skip
    found = scores([row("p1"), other, unattributed("p3", NO_EVIDENCE)])
    assert {name: each.value for name, each in found.items()} == pytest.approx(
        {
            "evidence_recall": (0.5 + 1.0) / 2,
            "evidence_precision": 1 / 4,  # only of probes for which something was recalled
            RECALL_AT_10: (0.5 + 0.0) / 2,
            "write_failure": 0.0,
            "read_failure": 0.5,
            "utilization_failure": 0.25,
        }
    )
    failure = found["read_failure"]
    assert (failure.n, failure.n_episodes, failure.coverage, failure.variant) == (2, 2, 1.0, BY_EVIDENCE)
    assert all(is_evidence_score(each) for each in found.values())


def test_shares_of_failures_have_the_interval_of_a_mean_of_bounded_values() -> None:
    rows = [row(f"p{at}", episode_id=f"u{at}", utilization=at / 4) for at in range(5)]
    found = scores(rows)["utilization_failure"]
    units = Units.of_episodes([row.utilization or 0.0 for row in rows], [1] * 5)
    assert (found.value, found.low, found.high) == mean_interval(units, 0.0, 1.0)[:3]


def test_failure_score_with_low_coverage_has_a_reason_and_no_value() -> None:
    lost = [
        row(f"p{at}", loss=None, write=None, read=None, utilization=None, reason="no answer")
        for at in range(2)
    ]
    found = scores([row("p9"), *lost])
    assert found["write_failure"].value is None
    assert found["write_failure"].reason == "1 of 3 probes have a value; a score needs 90%"
    assert found["evidence_recall"].value == pytest.approx(0.5)


def test_evidence_scores_have_slices_by_checkpoint_category_and_benchmark() -> None:
    rows = [row("p1", category="2"), row("p2", category="3", read=0.0, write=1.0, recalled=2, checkpoint=1)]
    own = {"level factual": frozenset({"p2"})}
    names = {each.slice for each in evidence_scores(rows, metric_context(), own)}
    assert names == {"all", "checkpoint 0", "checkpoint 1", "category 2", "category 3", "level factual"}
    assert scores(rows, "category 3")["write_failure"].value == 1.0
    level = scores(rows, "level factual", own)["evidence_recall"]
    assert (level.value, level.n) == (1.0, 1)


def test_recall_at_10_of_a_memory_without_ranking_has_a_reason_and_no_value() -> None:
    found = scores([row("p1", recalled_at_10=None)])
    assert found[RECALL_AT_10].value is None and found["evidence_recall"].value == 0.5
    assert found[RECALL_AT_10].reason == "full does not rank what it recalls, so it has no ten best entries"
    assert scores([unattributed("p1", "no answer")])[RECALL_AT_10].reason == "no answer"
    nothing = scores([row("p1", recalled=0, entries=0, relevant=0)])
    assert nothing["evidence_precision"].reason == "nothing was recalled for the probes with evidence"
