"""Scores: each metric over all probes that count for it, by what happened to the fact, and by the form of question."""

from collections.abc import Mapping, Sequence

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.metrics import FIGURES
from memflow.benchmarks.verdicts import UNPARSED
from memflow.records import Probe, Score
from memflow.scoring.estimate import MetricContext, chance_values, probe_score, valid_probes

UNKNOWN_BEFORE = "no fact of this kind was known before, so nothing can be said of what happened to it"


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant for every metric and slice that has a verdict, and chance.

    A figure without any fact that was known before has no value, with the reason.
    """
    context, probes = MetricContext.from_results(domain, results), valid_probes(results)
    values: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in results.verdicts:
        values.setdefault((row.metric, row.variant), {})[row.probe_id] = row.value
    values["random", "standard"] = dict(chance_values(probes))
    scores = []
    for name, members in probe_slices(probes).items():
        for (metric, variant), found in values.items():
            asked = [probe for probe in members if probe.probe_id in found]
            if asked and (name == "all" or metric not in ("random", UNPARSED)):
                valued = {probe_id: value for probe_id, value in found.items() if value is not None}
                scores.append(probe_score(context, metric, asked, valued, slice_name=name, variant=variant))
    for figure in FIGURES:
        if (figure.name, "standard") not in values:
            scores.append(probe_score(context, figure.name, [], {}, reason=UNKNOWN_BEFORE))
    return scores


def probe_slices(probes: Sequence[Probe]) -> Mapping[str, list[Probe]]:
    """Return the probes of each slice: `all`, `before` or `after` changes, `fate F`, `form F`, and any `language L`."""
    slices: dict[str, list[Probe]] = {"all": list(probes)}
    for probe in probes:
        names = [*probe.slices, f"fate {(probe.category or '').replace('_', ' ')}"]
        for name in names:
            slices.setdefault(name, []).append(probe)
    if len(languages := {probe.language for probe in probes}) > 1:
        for language in sorted(languages):
            slices[f"language {language}"] = [probe for probe in probes if probe.language == language]
    return slices
