"""Scores of LoCoMo: each metric over all probes, by category, and without questions whose gold is known to be wrong.

The score over all probes is the mean over questions, as vendors compute it, and not the mean over categories. Intervals
are over conversations.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import stdev

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.locomo.judging import CONTRACTS
from memflow.benchmarks.locomo.known_errors import has_wrong_gold, without_wrong_gold
from memflow.benchmarks.locomo.metrics import KEY_CEILING, RUN_DEVIATION
from memflow.metrics.intervals import Interval
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
from memflow.scoring.judges import STANDARD

WITHOUT_KNOWN_ERRORS = "without known errors"
_RUN = "run_"
NO_INTERVAL = "a deviation over the runs of the judge"

Values = Mapping[tuple[str, str], Mapping[str, float | None]]
"""Values by metric and variant, and by probe id."""


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant for every metric, variant and slice."""
    context = MetricContext.from_results(domain, results)
    probes, values = valid_probes(results), values_by_metric(results.verdicts)
    scores = slice_scores(context, values, probe_slices(probes))
    return [*scores, *_ceilings(context, probes), *_run_deviations(context, probes, values)]


def probe_slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Return the probes of every slice: `all`, `category N`, and `without known errors` if any probe has one."""
    slices = {"all": list(probes)}
    for category in sorted({probe.category for probe in probes if probe.category is not None}):
        slices[f"category {category}"] = [probe for probe in probes if probe.category == category]
    correct_probes = without_wrong_gold(probes)
    if len(correct_probes) < len(probes):
        slices[WITHOUT_KNOWN_ERRORS] = correct_probes
    return {name: members for name, members in slices.items() if members}


def _ceilings(context: MetricContext, probes: Sequence[Probe]) -> Iterator[Score]:
    """Yield, per slice, the share of probes without a known error, which no assistant exceeds by correct answers."""
    validity = {probe.probe_id: float(not has_wrong_gold(probe.probe_id, probe.question)) for probe in probes}
    for name, members in probe_slices(probes).items():
        yield probe_score(context, KEY_CEILING, members, validity, slice_name=name)


def _run_deviations(context: MetricContext, probes: Sequence[Probe], values: Values) -> Iterator[Score]:
    """Yield the standard deviation of each contract's J over the runs of the judge, where there are several runs."""
    first_contract = next((metric for metric, _ in values if metric in CONTRACTS), None)
    for contract in CONTRACTS:
        # For each run of the judge: the labels by probe.
        runs = [
            known_values(run)
            for (metric, name), run in values.items()
            if metric == contract and _is_run(name)
        ]
        if len(runs) < 2:
            continue
        shared_probes = [probe for probe in probes if all(probe.probe_id in run for run in runs)]
        means = [
            sum(run[probe.probe_id] for probe in shared_probes) / max(1, len(shared_probes)) for run in runs
        ]
        sample = Sample(len(probes), len(shared_probes), len({probe.episode_id for probe in shared_probes}))
        variant = STANDARD if contract == first_contract else contract
        yield estimate(
            context,
            RUN_DEVIATION,
            sample,
            partial(Interval, stdev(means), None, None, NO_INTERVAL),
            variant=variant,
        )


def _is_run(variant: str) -> bool:
    return variant.startswith(_RUN) and variant.removeprefix(_RUN).isdigit()
