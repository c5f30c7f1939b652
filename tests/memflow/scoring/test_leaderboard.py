"""Scores of a domain: metrics of installed packages, undeclared metrics and settings."""

from collections.abc import Sequence

import pytest
from factories import metric_context, probe, reply, score, verdict
from scored_domain import domain_scores

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import Probe, Reply, Score
from memflow.scoring.leaderboard import DomainRows, reply_scores
from memflow.scoring.metric import Metric, metric

PROBES = [probe(probe_id=f"p{at}", episode_id=f"u{at}", options=["a", "b"]) for at in range(2)]
REPLIES = [reply(probe_id=each.probe_id, episode_id=each.episode_id, parsed="1") for each in PROBES]


@metric("Brevity", "higher")
def brevity(asked: Probe, given: Reply) -> float | None:
    return float(asked.probe_id == "p0")


@metric("Failure", "higher")
def failure(asked: Probe, given: Reply) -> float | None:
    raise ZeroDivisionError("division by zero")


def own_scores(*metrics: Metric, replies: Sequence[Reply] = REPLIES) -> list[Score]:
    return reply_scores(metrics, metric_context(), PROBES, replies)


def test_score_is_null_if_its_metric_raises_or_half_of_the_replies_are_missing() -> None:
    broken, whole = own_scores(failure, brevity)
    assert (broken.value, broken.reason) == (None, "the metric failed: ZeroDivisionError: division by zero")
    assert whole.value == 0.5
    [few] = own_scores(brevity, replies=REPLIES[:1])
    assert (few.value, few.coverage) == (None, 0.5)


def rows(verdict_metric: str = "accuracy") -> DomainRows:
    verdicts = [
        verdict(probe_id=each.probe_id, episode_id=each.episode_id, metric=verdict_metric, value=1.0)
        for each in PROBES
    ]
    meta = {"model": "m", "simulator": "s", "scripted": "yes", "k": "5"}
    tables = {"answer.replies": REPLIES}
    return DomainRows(
        domain=Domain("d", "membench", ("membench_sample",), "D"),
        probes=PROBES,
        meta={"full": meta},
        verdicts=lambda assistant: verdicts,
        groups={},
        operations={},
        checkpoints={},
        read=lambda table, assistant: tables.get(table),
        scripted_judge=lambda assistant: False,
    )


def test_domain_scores_rejects_an_undeclared_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = registry.benchmark("membench")
    monkeypatch.setattr(benchmark, "scores", lambda domain, results: [score(metric="beauty")])
    monkeypatch.setattr(benchmark, "slices", lambda domain, probes: {})
    with pytest.raises(BadInput, match="metric 'beauty' is not in the catalog"):
        domain_scores(benchmark, rows())


def test_domain_scores_contain_the_settings_of_their_assistant(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = registry.benchmark("membench")
    monkeypatch.setattr(benchmark, "scores", lambda domain, results: [score(value=1.0)])
    monkeypatch.setattr(benchmark, "slices", lambda domain, probes: {})
    found = domain_scores(benchmark, rows())
    assert {each.metric for each in found} == {
        "accuracy",
        "write_time",
        "read_time",
        "write_calls",
        "read_calls",
    }
    assert {each.k for each in found} == {5}
