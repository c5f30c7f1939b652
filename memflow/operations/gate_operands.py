"""What `memflow gate` compares: the run and the baseline, whether they are comparable, and the decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.errors import BadInput
from memflow.labels import meta_label
from memflow.operations.operands import (
    Stored,
    evaluated_of,
    missing_reasons,
    parse_operand,
    read_operands,
    same_probes,
    values_of,
    withheld_metrics,
)
from memflow.operations.stored_names import check_names
from memflow.records import Probe
from memflow.scoring import bundle_file
from memflow.scoring.decisions import WHOLE, GateOptions, GateReport, GateResult
from memflow.scoring.gate import gate
from memflow.scoring.measures import MeanMeasure
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, SUSPECT
from memflow.scoring.verdict_file import SUFFIX, Evaluated, VerdictFile, parse_verdicts, with_file

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings
    from memflow.scoring.measures import Measure

COMPARABLE = ("simulator", "annotators", "backbone", "judge", "parameters", "data")
"""The inputs of verdicts that must be equal. The others, such as the memory, may be what is tested."""
SETTINGS = ("k", "budget", "window")
"""The settings that are named where they differ; the inputs have the others."""


def gated(settings: "Settings", lake: "Lake", request: GateReport) -> GateReport:
    """Return a request with its decisions. Raises BadInput for unknown names and unusable files."""
    file, domain = _file(request.baseline), settings.domain(request.domain)
    operands = [replace(parse_operand(request.assistant), domain=request.domain)]
    if file is None:  # `=TIME` is the run's assistant
        is_moment = request.baseline.startswith("=")
        former = parse_operand(f"{request.assistant}{request.baseline}" if is_moment else request.baseline)
        operands.append(replace(former, domain=former.domain or request.domain))
    [stored] = read_operands(lake, operands)
    new = evaluated_of(stored[0], domain)
    old = evaluated_of(stored[1], settings.domain(stored[1].source.domain)) if file is None else file.header
    faults, probes = [*_faults(new, old)], list(stored[0].probes.values())
    if len(variants := {operand.variant for operand in operands}) > 1:
        faults.append(f"variant: {' and '.join(sorted(variants))}")
    if not faults:
        faults, probes = _probe_faults(stored, file, new, old)
    chosen = request.options.metrics
    faults += dict.fromkeys(
        f"{metric} is {reason}"
        for operand in stored
        for metric, reason in withheld_metrics(operand).items()
        if not chosen or metric in chosen
    )
    result = GateResult(faults=faults)
    if not faults:
        options = replace(request.options, identical=new.inputs == old.inputs != {})
        result = _result(domain, stored, file, probes, replace(request, options=options))
    result = replace(result, notices=[*_notices(new, old), *result.notices])
    return replace(request, label=meta_label(source.meta for _, source, _ in stored), result=result)


def _file(name: str) -> VerdictFile | None:
    """Return the content of a baseline file; None if the baseline is no file."""
    path = Path(name)
    if path.suffix not in (SUFFIX, bundle_file.SUFFIX) and not path.is_file():
        return None
    try:
        content = path.read_bytes()
        if path.suffix == bundle_file.SUFFIX:
            return bundle_file.read_bundle(content, name).verdicts
        return parse_verdicts(content.decode(), name)
    except OSError as wrong:
        raise BadInput(
            f"cannot read the baseline {name} ({wrong.strerror}). Write it with `memflow export verdicts DOMAIN "
            f"ASSISTANT {name}`."
        ) from wrong
    except UnicodeDecodeError as wrong:
        raise BadInput(
            f"the baseline {name} is no text in UTF-8. Write it with `memflow export verdicts`."
        ) from wrong


def _faults(new: Evaluated, old: Evaluated) -> Iterator[str]:
    """Yield what makes the two not comparable."""
    if new.domain != old.domain:
        yield f"the baseline is of the domain {old.domain}, the run of {new.domain}"
    else:
        for name in COMPARABLE:
            if (before := old.inputs.get(name)) != (after := new.inputs.get(name)):
                yield f"another setting: {name} {before or 'none'} -> {after or 'none'}"
    for side, evaluated in (("run", new), ("baseline", old)):
        if evaluated.health == FAULTY:
            yield f"the {side} ({evaluated.assistant}) is {NOT_MEASURED}: {evaluated.health_reason}"


def _probe_faults(
    stored: Sequence[Stored], file: VerdictFile | None, new: Evaluated, old: Evaluated
) -> tuple[list[str], list[Probe]]:
    """Return what prevents a comparison of the probes, and the probes to compare."""
    names = set(stored[1].probes) if file is None else {line.probe_id for line in file.lines}
    if names.isdisjoint(stored[0].probes):
        return ["the run and the baseline have no probe in common"], []
    if file is not None and new.probes != old.probes:
        return ["other probes: the questions, options or gold differ from those of the baseline"], []
    probes, changed = same_probes(stored)
    return [f"other probes: {changed:,} have another question, options or gold"] if changed else [], probes


def _notices(new: Evaluated, old: Evaluated) -> Iterator[str]:
    """Yield what else differs, which may be what is tested, and which memory is suspect."""
    pairs = [
        *((name, old.inputs.get(name), new.inputs.get(name)) for name in {**old.inputs, **new.inputs}),
        *((name, old.settings.get(name), new.settings.get(name)) for name in SETTINGS),
        ("memflow", old.memflow, new.memflow),
    ]
    differing = [
        f"{name} {before or 'none'} -> {after or 'none'}"
        for name, before, after in pairs
        if name not in COMPARABLE and before != after
    ]
    if differing and new.domain == old.domain:
        yield f"Differs: {'; '.join(differing)}"
    for side, evaluated in (("run", new), ("baseline", old)):
        if evaluated.health == SUSPECT:
            yield f"The {side} ({evaluated.assistant}) is {SUSPECT}: {evaluated.health_reason}"


def _result(
    domain: "Domain",
    stored: Sequence[Stored],
    file: VerdictFile | None,
    probes: Sequence[Probe],
    request: GateReport,
) -> GateResult:
    from memflow.benchmarks import registry
    from memflow.scoring.comparisons import DomainContext

    benchmark = registry.benchmark(domain.benchmark)
    values = values_of(stored, benchmark, probes)
    if file is not None:
        values = with_file(values, file, request.baseline, stored[0].operand.variant)
    measures = _chosen([*benchmark.measures(domain, values)], request.options)
    if not measures:
        reasons = [
            f"{reason} ({count:,})"
            for metric in sorted({probe.metric for probe in probes})
            for reason, count in missing_reasons(stored[0], metric)
        ]
        return GateResult(faults=["; ".join(["no verdict has a value", *reasons])])
    context = DomainContext(domain.name, values.assistants, [False] * len(values.assistants), domain.seed)
    result = gate(context, measures, request.options, 1 if file is None else len(values.assistants) - 1)
    missing = [
        f"{metric}: {count:,} verdicts of the run have no value: {reason}"
        for metric in dict.fromkeys(decision.metric for decision in result.decisions if decision.missing)
        for reason, count in missing_reasons(stored[0], metric)
    ]
    return replace(result, notices=missing)


def _chosen(measures: "Sequence[Measure]", options: GateOptions) -> "list[Measure]":
    """Return the measures to decide on. Raises BadInput with similar names for an unknown metric or slice.

    By default these are the means of quality: a failure that moved from reading to using is no regression, and other
    scores have no range for a margin.
    """
    from memflow.scoring.catalog import find_metric

    means = [measure for measure in measures if isinstance(measure, MeanMeasure)]
    if measures:
        check_names("", "compared metric", [*options.metrics], {measure.metric for measure in measures})
        check_names(
            "", "slice", sorted(options.slices), {WHOLE, *(name for mean in means for name in mean.slices)}
        )
    if options.metrics:
        return [measure for measure in measures if measure.metric in options.metrics]
    metrics = {mean.metric: find_metric(mean.metric) for mean in means}
    return [
        mean for mean in means if metrics[mean.metric].group == "quality" and metrics[mean.metric].is_bounded
    ]
