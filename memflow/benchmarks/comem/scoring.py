"""Verdicts to figures: accuracy over the checkpoints, at each of them and by category, with its floors beside it.

Floors are what accuracy is to be read beside: chance (`random`); the best `constant` answer, whatever is asked, by the
option's number, and in the variant `unknowing` the option that says that there is no telling, wherever there is one;
and `guess`, what the same assistant answers to the same questions at checkpoint 0. What changes from one checkpoint to
the next, forgetting and transfer, is memflow/scoring/continual.py, for every benchmark.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.comem.contexts import unknown_option
from memflow.benchmarks.domains import Domain
from memflow.metrics.continual import best_constant
from memflow.records import Probe, Score
from memflow.scoring.continual import GUESS
from memflow.scoring.estimate import MetricContext, mean_score, valid_probes, values_by_metric

CONSTANT = "constant"
UNKNOWING = "unknowing"
"""The variant of the constant answer that there is no telling; a question without such an option it gets wrong."""

SHOWN = ("accuracy", "random", CONSTANT, GUESS, "forgetting", "all_correct")
"""Metrics of the table that a run ends with."""


def make_scores(domain: Domain, measured: AssistantResults) -> list[Score]:
    """The figures of one assistant: accuracy, its floors, and answers that could not be read, for every slice."""
    of, values = MetricContext(domain, measured), values_by_metric(measured)
    values[GUESS] = _guessed(measured.probes, values["accuracy"])
    return [
        figure
        for name, asked in slices(valid_probes(measured)).items()
        for figure in (
            *(mean_score(of, metric, name, asked, held) for metric, held in values.items()),
            *_constant_answers(of, name, asked),
        )
    ]


def _guessed(probes: Sequence[Probe], accuracy: Mapping[str, float]) -> dict[str, float]:
    """For every probe, what was answered to its question at checkpoint 0 is worth."""
    at_first = {
        probe.question_id: accuracy[probe.probe_id]
        for probe in probes
        if probe.opens and probe.probe_id in accuracy
    }
    return {probe.probe_id: at_first[probe.question_id] for probe in probes if probe.question_id in at_first}


def _constant_answers(of: MetricContext, name: str, asked: Sequence[Probe]) -> Iterator[Score]:
    best = best_constant([probe.gold for probe in asked])
    by_number = {probe.probe_id: float(probe.gold == best) for probe in asked}
    yield mean_score(of, CONSTANT, name, asked, by_number)
    untold = {probe.probe_id: unknown_option(probe.options) for probe in asked}
    if any(untold.values()):
        right = {probe.probe_id: float(probe.gold == str(untold[probe.probe_id])) for probe in asked}
        yield replace(mean_score(of, CONSTANT, name, asked, right), variant=UNKNOWING)


def slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """The probes of every slice, by its name: `all`, `checkpoint 2`, `category X`. What is answered at checkpoint 0 is
    a guess, and stands in its own slice alone."""
    told = [probe for probe in probes if probe.checkpoint]
    found: dict[str, list[Probe]] = {"all": told}
    for checkpoint in sorted({probe.checkpoint for probe in probes}):
        found[f"checkpoint {checkpoint}"] = [probe for probe in probes if probe.checkpoint == checkpoint]
    for category in sorted({probe.category for probe in told if probe.category is not None}):
        found[f"category {category}"] = [probe for probe in told if probe.category == category]
    return {name: held for name, held in found.items() if held}
