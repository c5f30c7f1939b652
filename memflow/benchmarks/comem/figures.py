"""Verdicts to figures: accuracy over the checkpoints, at each of them and by category, with chance beside it.

What changes from one checkpoint to the next, forgetting and transfer, is memflow/continual.py, for every benchmark.
"""

from collections.abc import Sequence

from memflow.benchmarks.benchmark import Measured
from memflow.benchmarks.means import Figured, asked_of, figure_of, values_of
from memflow.domains import Domain
from memflow.records import Figure, Probe


def make_figures(domain: Domain, measured: Measured) -> list[Figure]:
    """The figures of one assistant: accuracy, chance, and answers that could not be read, for every slice."""
    return [
        figure_of(Figured(domain, measured), metric, name, asked, held)
        for name, asked in slices(asked_of(measured)).items()
        for metric, held in values_of(measured).items()
    ]


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
