"""Scores of LongMemEval: accuracy by type, over all and task-averaged, with and without abstention, and retrieval.

Published averages leave out missing answers. Here they lower the coverage, and below 90 % there is no score.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.known_errors import KNOWN_ERRORS
from memflow.benchmarks.longmemeval.types import (
    ABSTENTION,
    ACCURACY,
    ANSWERABLE,
    NO_ERRORS,
    TASK_AVERAGED,
    TYPES,
    UNCLEAR,
    is_abstention,
)
from memflow.metrics.intervals import Array, Interval, statistic_interval
from memflow.records import Probe, Score
from memflow.scoring.estimate import MetricContext, Sample, estimate, probe_score, valid_probes

AVERAGED = ("all", ANSWERABLE, NO_ERRORS)
"""The slices that have a task average."""


def slices_of(probes: Iterable[Probe]) -> dict[str, list[Probe]]:
    """Return the probes of each slice: `all`, those with and without an answer, without known errors, and by type.

    Abstention questions count in their type as well, as published.
    """
    probes = list(probes)
    found = {
        "all": probes,
        ANSWERABLE: [probe for probe in probes if not is_abstention(probe.probe_id)],
        ABSTENTION: [probe for probe in probes if is_abstention(probe.probe_id)],
        NO_ERRORS: [probe for probe in probes if probe.probe_id not in KNOWN_ERRORS],
        **{f"category {name}": [probe for probe in probes if probe.category == name] for name in TYPES},
    }
    return {name: part for name, part in found.items() if part}


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return all scores of an assistant."""
    context = MetricContext.from_results(domain, results)
    values: dict[tuple[str, str], dict[str, float]] = {}
    asked: dict[tuple[str, str], set[str]] = {}
    for row in results.verdicts:
        key = row.metric, row.variant
        asked.setdefault(key, set()).add(row.probe_id)
        of_key = values.setdefault(key, {})
        if row.value is not None:
            of_key[row.probe_id] = row.value
    found = []
    for name, probes in slices_of(valid_probes(results)).items():
        for (metric, variant), of_metric in values.items():
            members = [probe for probe in probes if probe.probe_id in asked[metric, variant]]
            if metric in (ACCURACY, UNCLEAR):
                members = probes
            if members:
                found.append(
                    probe_score(context, metric, members, of_metric, slice_name=name, variant=variant)
                )
            if metric == ACCURACY and name in AVERAGED:
                found.append(task_average(context, probes, of_metric, name, variant))
    return found


def task_average(
    context: MetricContext, probes: Sequence[Probe], values: Mapping[str, float], name: str, variant: str
) -> Score:
    """Return the unweighted mean of the accuracy of the six types; without a value if a type has no probe."""
    missing = [kind for kind in TYPES if not any(probe.category == kind for probe in probes)]
    scored = [probe for probe in probes if probe.probe_id in values]
    return estimate(
        context,
        TASK_AVERAGED,
        Sample(len(probes), len(scored), len({probe.episode_id for probe in scored})),
        lambda: _interval([(probe.category or "", values[probe.probe_id]) for probe in scored], context.seed),
        slice_name=name,
        variant=variant,
        reason=f"there is no question of the type {missing[0]}" if missing else None,
        undefined="a type has no question with a value",
    )


def _interval(values: Sequence[tuple[str, float]], seed: int) -> Interval:
    """Return the mean over types with its interval over questions, which are episodes of their own."""
    of_type = np.array([[kind == name for kind, _ in values] for name in TYPES], dtype=float)
    value = np.array([each for _, each in values])

    def statistic(weights: Array) -> Array:
        return ((weights * value) @ of_type.T / (weights @ of_type.T)).mean(axis=1)

    return statistic_interval(statistic, len(values), seed=seed)
