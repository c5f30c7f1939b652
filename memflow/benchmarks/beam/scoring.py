"""Scores of BEAM: each contract over all questions, by ability, and without questions whose gold is known to be wrong.

With two questions of each ability in a conversation, the mean over questions is the published mean over abilities; the
variant `by_ability` is this mean also where questions are missing. Intervals are over conversations. Verdicts on single
rubric items (`item_N`) have no score.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.beam.known_errors import has_known_error
from memflow.benchmarks.beam.ordering import constant_values
from memflow.benchmarks.beam.types import (
    BY_ABILITY,
    CORRECTED,
    HEADING,
    ITEM,
    NO_ERRORS,
    NO_INFORMATION,
    ORDERING,
    PUBLISHED,
    TYPES,
    type_slice,
)
from memflow.benchmarks.domains import Domain
from memflow.metrics.intervals import Array, Interval, statistic_interval
from memflow.records import Probe, Score
from memflow.scoring.estimate import (
    MetricContext,
    Sample,
    estimate,
    known_values,
    probe_score,
    slice_scores,
    valid_probes,
    values_by_metric,
)
from memflow.scoring.judges import STANDARD, parse_variant


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant for every contract and slice, and what constant answers would score."""
    context, probes = MetricContext.from_results(domain, results), valid_probes(results)
    rows = [row for row in results.verdicts if not parse_variant(row.variant).base.startswith(ITEM)]
    values = values_by_metric(rows)
    scores = slice_scores(context, values, probe_slices(probes))
    scores += [
        _ability_mean(context, metric, probes, known_values(of_metric))
        for (metric, variant), of_metric in values.items()
        if metric in (CORRECTED, PUBLISHED) and variant == STANDARD
    ]
    return [*scores, *_constants(context, probes)]


def probe_slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Return the probes of each slice with any: `all`, `category TYPE`, texts (`full text`), `without known errors`."""
    slices = {"all": list(probes)}
    slices |= {type_slice(name): [probe for probe in probes if probe.category == name] for name in TYPES}
    texts = sorted({name for probe in probes for name in probe.slices})
    slices |= {name: [probe for probe in probes if name in probe.slices] for name in texts}
    sound = [probe for probe in probes if not has_known_error(probe.probe_id)]
    if len(sound) < len(probes):
        slices[NO_ERRORS] = sound
    return {name: members for name, members in slices.items() if members}


def _ability_mean(
    context: MetricContext, metric: str, probes: Sequence[Probe], values: Mapping[str, float]
) -> Score:
    """Return the mean over abilities of the mean over conversations of a conversation's questions of the ability."""
    scored = [probe for probe in probes if probe.probe_id in values]
    episodes = list(dict.fromkeys(probe.episode_id for probe in scored))
    means = np.full((len(episodes), len(TYPES)), np.nan)
    for row, episode in enumerate(episodes):
        for column, kind in enumerate(TYPES):
            members = [
                values[probe.probe_id]
                for probe in scored
                if probe.episode_id == episode and probe.category == kind
            ]
            if members:
                means[row, column] = sum(members) / len(members)
    missing = [kind for kind in TYPES if not any(probe.category == kind for probe in probes)]
    return estimate(
        context,
        metric,
        Sample(len(probes), len(scored), len(episodes)),
        lambda: _interval(means, context.seed),
        variant=BY_ABILITY,
        reason=f"there is no question of the type {missing[0]}" if missing else None,
        undefined="an ability has no question with a value",
    )


def _interval(means: Array, seed: int) -> Interval:
    present, known = np.isfinite(means).astype(float), np.nan_to_num(means)

    def statistic(weights: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Array = ((weights @ known) / (weights @ present)).mean(axis=1)
        return mean

    return statistic_interval(statistic, len(means), seed=seed)


def _constants(context: MetricContext, probes: Sequence[Probe]) -> Iterator[Score]:
    """Yield what two constant answers score on the orders of events: they need no memory, and no judge."""
    ordered = [probe for probe in probes if probe.category == ORDERING]
    found = {probe.probe_id: constant_values(json.loads(probe.gold)) for probe in ordered}
    for metric, name in ((NO_INFORMATION, "no_information"), (HEADING, "heading")):
        for variant in (STANDARD, "corrected"):
            values = {
                probe_id: value
                for probe_id, of_probe in found.items()
                if not np.isnan(
                    value := of_probe[name].tau if variant == STANDARD else of_probe[name].product
                )
            }
            if ordered:
                yield probe_score(
                    context, metric, ordered, values, variant=variant, slice_name=type_slice(ORDERING)
                )
