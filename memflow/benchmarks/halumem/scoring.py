"""Scores of HaluMem: corrected figures with their intervals, and those of the published code beside them.

Corrected: what was invented counts in the precision of F1 (all texts, not only those on gold fields), and an update
whose search found nothing is an omission. The variants `published` and `published_valid` are the published code's
figures over all records, and over those with a verdict. Where it ends with a ZeroDivisionError, they have the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem import names
from memflow.benchmarks.halumem.aggregate import GROUPS, Records, published_summary
from memflow.benchmarks.halumem.load import INTERFERENCE
from memflow.benchmarks.halumem.probes import TEXTS, importance_of, source_of
from memflow.metrics.intervals import Interval
from memflow.records import Probe, Score, Verdict
from memflow.scoring.estimate import MetricContext, Sample, estimate, probe_score, valid_probes, value_score

NO_INTERVAL = "no interval method is defined for a ratio of weighted or combined means"
EXTRACTION = (
    names.RECALL,
    names.WEIGHTED_RECALL,
    names.RESISTANCE,
    names.PRECISION,
    names.ACCURACY,
    names.F1,
)
_FIGURES = {
    names.RECALL: ("memory_integrity", "recall({})", "memory_{}num"),
    names.WEIGHTED_RECALL: ("memory_integrity", "weighted_recall({})", "memory_{}num"),
    names.RESISTANCE: ("memory_accuracy", "interference_accuracy({})", "interference_memory_{}num"),
    names.PRECISION: ("memory_accuracy", "target_accuracy({})", "target_memory_{}num"),
    names.ACCURACY: ("memory_accuracy", "weighted_accuracy({})", "memory_{}num"),
    **{
        metric: ("memory_update", f"{name.lower()}_update_memory_ratio({{}})", "update_memory_{}num")
        for name, metric in names.UPDATE_RESULTS.items()
    },
    **{
        metric: ("question_answering", f"{name.lower()}_qa_ratio({{}})", "qa_{}num")
        for name, metric in names.ANSWER.items()
    },
}
"""The group of each figure in the published summary, and the names of figure and number of records."""
_BY_PROBE = (
    names.RECALL,
    names.RESISTANCE,
    *names.UPDATE_RESULTS.values(),
    *names.ANSWER.values(),
    *names.STAGES,
)
Values = Mapping[tuple[str, str], Mapping[str, float | None]]


def values_of(verdicts: Sequence[Verdict]) -> Values:
    """Return the values of verdicts by metric and variant, and then by probe."""
    values: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in verdicts:
        values.setdefault((row.metric, row.variant), {})[row.probe_id] = row.value
    return values


def slices_of(probes: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Return the probes of each slice: `all`, each type of memory or question, and each `difficulty NAME`."""
    categories = sorted({probe.category for probe in probes if probe.category and probe.category != TEXTS})
    difficulties = sorted(
        {name for probe in probes for name in probe.slices if name.startswith("difficulty ")}
    )
    return {
        "all": list(probes),
        **{name: [probe for probe in probes if probe.category == name] for name in categories},
        **{name: [probe for probe in probes if name in probe.slices] for name in difficulties},
    }


def make_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the scores of one assistant."""
    probes, values = valid_probes(results), values_of(results.verdicts)
    context = MetricContext.from_results(domain, results)
    is_raw = any(variant == names.RAW for _, variant in values)
    extraction = names.RAW if is_raw else names.STANDARD
    scores = []
    for name, members in slices_of(probes).items():
        for (metric, variant), found in values.items():
            asked = [probe for probe in members if probe.probe_id in found]
            if metric in _BY_PROBE and variant != names.PUBLISHED and asked:
                scores.append(
                    probe_score(context, metric, asked, _valued(found), variant=variant, slice_name=name)
                )
    texts = [
        row for row in results.verdicts if row.variant.startswith(names.TEXT) and "judge_" not in row.variant
    ]
    scores += _text_scores(context, texts, extraction)
    scores += _combined(context, probes, values, extraction, scores)
    return [*scores, *_published(context, published_records(probes, results.verdicts), values, is_raw)]


def _valued(values: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _text_scores(context: MetricContext, texts: Sequence[Verdict], variant: str) -> Iterator[Score]:
    """Yield the accuracy of all texts, and of those on the gold's fields."""
    included = {(row.probe_id, row.variant): row.value for row in texts if row.metric == names.INCLUDED}
    graded = [row for row in texts if row.metric == names.ACCURACY]
    parts = {
        names.ACCURACY: graded,
        names.PRECISION: [row for row in graded if included.get((row.probe_id, row.variant)) != 0],
    }
    for metric, rows in parts.items():
        if rows:
            pairs = [(row.episode_id, row.value) for row in rows if row.value is not None]
            yield value_score(context, metric, pairs, len(rows), variant=variant, items="texts")


def _combined(
    context: MetricContext, probes: Sequence[Probe], values: Values, variant: str, scores: Sequence[Score]
) -> Iterator[Score]:
    """Yield recall weighted by importance, and the F1 of recall and the accuracy of all texts."""
    grades = values.get((names.GRADE, variant), {})
    asked = [probe for probe in probes if probe.probe_id in grades and source_of(probe) != INTERFERENCE]
    if not asked:
        return
    pairs = [
        (importance_of(probe), grade) for probe in asked if (grade := grades[probe.probe_id]) is not None
    ]
    weight = sum(weight for weight, _ in pairs)
    recalled = sum(weight * grade for weight, grade in pairs) / weight if weight else None
    by_metric = {row.metric: row for row in scores if row.slice == "all" and row.variant == variant}
    parts = [by_metric[name] for name in (names.RECALL, names.ACCURACY) if name in by_metric]
    known = [row.value for row in parts if row.value is not None]
    total = sum(known) if len(known) == 2 else None
    harmonic = None if total is None else 2 * known[0] * known[1] / total if total else 0.0
    lacking = next((row.reason for row in parts if row.value is None), None)
    short = Sample(len(asked), len(pairs), 0).shortage("points")
    yield _figure(context, names.WEIGHTED_RECALL, recalled, len(pairs), variant, short)
    yield _figure(context, names.F1, harmonic, len(pairs), variant, lacking)


def _integer(value: float | None) -> float | None:
    return None if value is None else int(2 * value) if (2 * value).is_integer() else 2 * value


def published_records(
    probes: Sequence[Probe], verdicts: Sequence[Verdict]
) -> dict[str, list[dict[str, Any]]]:
    """Return, by group of GROUPS, the records that the published code aggregates, from verdicts on the probes."""
    values = values_of(verdicts)
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in GROUPS}
    integrity, accuracy, update, answers = (records[name] for name in GROUPS)
    grades = {
        **values.get((names.GRADE, names.STANDARD), {}),
        **values.get((names.GRADE, names.RAW), {}),
        **values.get((names.GRADE, names.PUBLISHED), {}),
    }
    searched = values.get((names.UPDATE["Correct"], names.STANDARD), {})
    replied = values.get((names.ANSWER["Correct"], names.STANDARD), {})
    for probe in probes:
        name = probe.probe_id
        if name in grades or name in searched:
            point = {
                "memory_type": probe.category,
                "memory_source": source_of(probe),
                "importance": importance_of(probe),
            }
            if name in grades:
                integrity.append({**point, "memory_integrity_score": _integer(grades[name])})
            else:
                update.append({**point, "memory_update_type": _result(values, name, names.UPDATE_RESULTS)})
        elif name in replied:
            answers.append({"result_type": _result(values, name, names.ANSWER)})
    flags = {(row.probe_id, row.variant): row.value for row in verdicts if row.metric == names.INCLUDED}
    for row in verdicts:
        if row.metric == names.ACCURACY and (row.probe_id, row.variant) in flags:
            included = "true" if flags[row.probe_id, row.variant] else "false"
            accuracy.append(
                {"memory_accuracy_score": _integer(row.value), "is_included_in_golden_memories": included}
            )
    return records


def _result(values: Values, name: str, results: Mapping[str, str]) -> str | None:
    return next(
        (
            result
            for result, metric in results.items()
            if values.get((metric, names.STANDARD), {}).get(name) == 1
        ),
        None,
    )


def _published(context: MetricContext, records: Records, values: Values, is_raw: bool) -> Iterator[Score]:
    """Yield the figures of the published code, or the reason why it gives none."""
    summary: dict[str, Any] = {}
    reason = None
    empty = [name for name in GROUPS if not records[name]]
    if any("judge_" in variant for _, variant in values):
        reason = "the published code has one judge, and here are several"
    else:
        try:
            summary = published_summary(records)
        except ZeroDivisionError:
            lacking = f" (no {', '.join(empty)})" if empty else ""
            reason = f"the published code ends with a ZeroDivisionError, without any figure{lacking}"
    for variant, part, prefix in ((names.PUBLISHED, "all", ""), (names.PUBLISHED_VALID, "valid", "valid_")):
        of_texts = names.raw(variant) if is_raw else variant
        for metric, (group, name, number) in _FIGURES.items():
            found = summary.get(group, {})
            value, n = found.get(name.format(part)), found.get(number.format(prefix), 0)
            yield _figure(context, metric, value, n, of_texts if metric in EXTRACTION else variant, reason)
        if variant == names.PUBLISHED:
            n = summary.get("memory_integrity", {}).get("memory_num", 0)
            yield _figure(context, names.F1, summary.get("memory_extraction_f1"), n, of_texts, reason)


def _figure(
    context: MetricContext, metric: str, value: float | None, n: int, variant: str, reason: str | None
) -> Score:
    """Return a score without an interval."""
    sample = Sample(n, n, 0) if n else Sample(1, 0, 0)
    interval = Interval(value, None, None, NO_INTERVAL)
    return estimate(
        context,
        metric,
        sample,
        lambda: interval,
        variant=variant,
        reason=reason,
        undefined="no text was added",
    )
