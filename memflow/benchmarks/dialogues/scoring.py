"""Scores of own dialogues: the answer score and each metric over its own probes, by type, kind and slice."""

from collections.abc import Sequence
from dataclasses import replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.dialogues.metrics import ANSWER_SCORE, FALSE_ABSTENTION, JUDGED, OF_PROBES
from memflow.benchmarks.dialogues.probes import is_unanswerable
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.verdicts import UNPARSED
from memflow.records import Probe, Score
from memflow.scoring.catalog import RANDOM
from memflow.scoring.estimate import MetricContext, chance_values, probe_score, valid_probes, verdict_values
from memflow.scoring.judges import parse_variant


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant for every slice. A metric without probes in a slice has no score there."""
    context = MetricContext.from_results(domain, results)
    contexts = {ANSWER_SCORE.name: replace(context, scripted=context.scripted or results.scripted_judge)}
    values: dict[tuple[str, str], dict[str, float]] = {
        (name, "standard"): verdict_values(results, name) for name in (ANSWER_SCORE.name, UNPARSED)
    }
    values[RANDOM.name, "standard"] = chance_values(valid_probes(results))
    for metric in (*(each.name for each in OF_PROBES), FALSE_ABSTENTION.name):
        for variant in _variants(results, metric):
            values[metric, variant] = {
                row.probe_id: row.value
                for row in results.verdicts
                if (row.metric, row.variant) == (metric, variant) and row.value is not None
            }
    return [
        probe_score(contexts.get(metric, context), metric, asked, found, slice_name=name, variant=variant)
        for name, probes in probe_slices(valid_probes(results)).items()
        for (metric, variant), found in values.items()
        if (asked := asked_under(metric, probes))
    ]


def asked_under(metric: str, probes: Sequence[Probe]) -> list[Probe]:
    """Return the probes that need a value under a metric."""
    if metric == ANSWER_SCORE.name:
        return list(probes)
    if metric in (UNPARSED, RANDOM.name):
        return [probe for probe in probes if probe.options]
    if metric == FALSE_ABSTENTION.name:
        return [probe for probe in probes if not probe.options and not is_unanswerable(probe)]
    return [probe for probe in probes if probe.metric == metric]


def probe_slices(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Return the probes of every slice: `all`, `category TYPE`, `kind KIND`, `gold no answer`, `dataset NAME`, and
    those of the questions.
    """
    found: dict[str, list[Probe]] = {"all": list(probes)}
    for probe in probes:
        names = [f"kind {probe.kind}", f"dataset {probe.dataset}"]
        if probe.category is not None:
            names.append(f"category {probe.category}")
        if is_unanswerable(probe):
            names.append("gold no answer")
        names += probe.slices
        for name in names:
            found.setdefault(name, []).append(probe)
    whole = len(probes)
    # A slice that is the whole set repeats it.
    return {
        name: found[name]
        for name in ("all", *sorted(set(found) - {"all"}))
        if name == "all" or name.startswith("category ") or len(found[name]) < whole
    }


def _variants(results: AssistantResults, metric: str) -> list[str]:
    found = {row.variant for row in results.verdicts if row.metric == metric}
    return sorted(each for each in found if metric == JUDGED.name or parse_variant(each).judge is None)
