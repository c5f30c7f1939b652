"""Scores of CoMem: accuracy over all checkpoints, at each checkpoint and by category, with reference accuracies.

The references are chance; the best constant answer (variant `unknowing`: always the "not enough information" option);
and `guess`, the assistant's accuracy on the same question at checkpoint 0. memflow/scoring/continual.py computes
forgetting and transfer.
"""

from collections.abc import Iterator, Mapping, Sequence

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.comem.contexts import unknown_option
from memflow.benchmarks.domains import Domain
from memflow.metrics.continual import best_constant
from memflow.records import Probe, Score
from memflow.scoring.continual import GUESS
from memflow.scoring.estimate import MetricContext, change_slices, choice_values, probe_score, valid_probes

CONSTANT = "constant"
UNKNOWING = "unknowing"
"""The variant of the constant answer that is the "not enough information" option; wrong where there is none."""


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant for every slice: accuracy, reference accuracies and unparsed replies."""
    context, values = MetricContext.from_results(domain, results), choice_values(results)
    values[GUESS] = _guesses(results.probes, values["accuracy"])
    return [
        score
        for name, probes in probe_slices(valid_probes(results)).items()
        for score in (
            *(probe_score(context, metric, probes, each, slice_name=name) for metric, each in values.items()),
            *_constants(context, name, probes),
        )
    ]


def _guesses(probes: Sequence[Probe], accuracy: Mapping[str, float]) -> dict[str, float]:
    """Return the accuracy of each probe's question at checkpoint 0, by probe id."""
    first = {
        probe.question_id: accuracy[probe.probe_id]
        for probe in probes
        if probe.opens and probe.probe_id in accuracy
    }
    return {probe.probe_id: first[probe.question_id] for probe in probes if probe.question_id in first}


def _constants(context: MetricContext, name: str, probes: Sequence[Probe]) -> Iterator[Score]:
    best = best_constant([probe.gold for probe in probes])
    values = {probe.probe_id: float(probe.gold == best) for probe in probes}
    yield probe_score(context, CONSTANT, probes, values, slice_name=name)
    options = {probe.probe_id: unknown_option(probe.options) for probe in probes}
    if any(options.values()):
        values = {probe.probe_id: float(probe.gold == str(options[probe.probe_id])) for probe in probes}
        yield probe_score(context, CONSTANT, probes, values, slice_name=name, variant=UNKNOWING)


def probe_slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Return the probes of every slice by slice name, such as `all`, `checkpoint 2`, `category X` or `gold changed`.

    The probes of checkpoint 0 belong only to the slice of that checkpoint.
    """
    later = [probe for probe in probes if probe.checkpoint]
    found: dict[str, list[Probe]] = {"all": later}
    for checkpoint in sorted({probe.checkpoint for probe in probes}):
        found[f"checkpoint {checkpoint}"] = [probe for probe in probes if probe.checkpoint == checkpoint]
    for category in sorted({probe.category for probe in later if probe.category is not None}):
        found[f"category {category}"] = [probe for probe in later if probe.category == category]
    return {name: each for name, each in found.items() if each} | change_slices(later)
