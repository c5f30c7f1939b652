"""What `memflow gate` compares: the run and the baseline, whether they are comparable, and the decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.cli.export_verdicts import evaluated_of
from memflow.cli.operands import (
    Operand,
    Stored,
    domains_of,
    missing_reasons,
    parse_operand,
    read_operand,
    same_probes,
    with_others,
)
from memflow.errors import BadInput
from memflow.labels import meta_label
from memflow.records import Probe
from memflow.scoring.decisions import GateOptions, GateResult
from memflow.scoring.gate import gate
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, SUSPECT
from memflow.scoring.verdict_file import SUFFIX, Evaluated, VerdictFile, parse_verdicts, with_file
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.scoring.measures import Measure
    from resources.lake.lake import Lake
    from resources.settings.settings import Settings

COMPARABLE = ("simulator", "annotators", "backbone", "judge", "parameters", "data")
"""The inputs of verdicts that must be equal. The others, such as the memory, may be what is tested."""
SETTINGS = ("k", "budget", "window")
"""The settings that are named where they differ; the inputs have the others."""


@dataclass(frozen=True)
class GateRequest:
    """The run and the baseline as the user named them, and what is compared."""

    domain: str
    assistant: str
    baseline: str
    options: GateOptions

    @property
    def run(self) -> Operand:
        """The run. Raises BadInput for an invalid name."""
        return replace(parse_operand(self.assistant), domain=self.domain)

    @property
    def former(self) -> Operand:
        """The baseline in the lake; `=TIME` is the run's assistant. Raises BadInput for an invalid name."""
        name = f"{self.assistant}{self.baseline}" if self.baseline.startswith("=") else self.baseline
        operand = parse_operand(name)
        return replace(operand, domain=operand.domain or self.domain)


@dataclass(frozen=True)
class Gated:
    """The result of a request, and the label of the compared results."""

    request: GateRequest
    label: str | None
    result: GateResult


def read_gate(settings: "Settings", lake: "Lake", request: GateRequest) -> Gated:
    """Return the decisions on a run. Raises BadInput for unknown names and unusable files."""
    run, file = request.run, _file(request.baseline)
    operands = [run] if file is not None else [run, request.former]
    domains_of(lake, operands, None)
    stored = [read_operand(lake, operand, operand.domain or request.domain) for operand in operands]
    domain = settings.domain(request.domain)
    new = evaluated_of(stored[0], domain)
    old = evaluated_of(stored[1], settings.domain(stored[1].source.domain)) if file is None else file.header
    variants = {operand.variant for operand in operands}
    faults = [
        *_faults(new, old),
        *([f"variant: {' and '.join(sorted(variants))}"] if len(variants) > 1 else []),
    ]
    probes = list(stored[0].probes.values())
    if not faults:
        faults, probes = _probe_faults(stored, file, new, old)
    notices = list(_notices(new, old))
    label = meta_label(each.source.meta for each in stored)
    if faults:
        return Gated(request, label, GateResult(faults=faults, notices=notices))
    result = _result(domain, stored, file, probes, request, new.inputs == old.inputs != {})
    return Gated(request, label, replace(result, notices=[*notices, *result.notices]))


def _file(name: str) -> VerdictFile | None:
    """Return the content of a baseline file; None if the baseline is no file."""
    path = Path(name)
    if path.suffix != SUFFIX and not path.is_file():
        return None
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as wrong:
        raise BadInput(
            f"cannot read the baseline {name} ({wrong.strerror}). Write it with `memflow export verdicts DOMAIN "
            f"ASSISTANT {name}`."
        ) from wrong
    except UnicodeDecodeError as wrong:
        raise BadInput(
            f"the baseline {name} is no text in UTF-8. Write it with `memflow export verdicts`."
        ) from wrong
    return parse_verdicts(text, name)


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
    probes = list(stored[0].probes.values())
    names = set(stored[1].probes) if file is None else {line.probe_id for line in file.lines}
    if names.isdisjoint(stored[0].probes):
        return ["the run and the baseline have no probe in common"], []
    if file is None:
        probes, changed = same_probes(stored)
        return (
            [f"other probes: {changed:,} have another question, options or gold"] if changed else []
        ), probes
    if new.probes != old.probes:
        return ["other probes: the questions, options or gold differ from those of the baseline"], []
    return [], probes


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
    request: GateRequest,
    identical: bool,
) -> GateResult:
    from memflow.benchmarks import registry
    from memflow.scoring.comparisons import DomainContext
    from resources.publishing.comparisons import verdict_values

    benchmark = registry.benchmark(domain.benchmark)
    names, sources, oracles = with_others(stored, everyone=benchmark.aggregates_in_sql)
    values = verdict_values(names, sources, oracles, probes)
    if file is not None:
        values = with_file(values, file, request.baseline, stored[0].operand.variant)
    baseline = 1 if file is None else len(values.assistants) - 1
    measures = _chosen([*benchmark.measures(domain, values)], request)
    if not measures:
        reasons = [
            f"{reason} ({count:,})"
            for metric in sorted({probe.metric for probe in probes})
            for reason, count in missing_reasons(stored[0], metric)
        ]
        return GateResult(faults=["; ".join(["no verdict has a value", *reasons])])
    context = DomainContext(domain.name, values.assistants, [False] * len(values.assistants), domain.seed)
    result = gate(context, measures, replace(request.options, identical=identical), baseline)
    missing = [
        f"{metric}: {count:,} verdicts of the run have no value: {reason}"
        for metric in dict.fromkeys(decision.metric for decision in result.decisions if decision.missing)
        for reason, count in missing_reasons(stored[0], metric)
    ]
    return replace(result, notices=missing)


def _chosen(measures: "Sequence[Measure]", request: GateRequest) -> "list[Measure]":
    """Return the measures to decide on. Raises BadInput with similar names for an unknown metric or slice.

    By default these are the means of quality: a failure that moved from reading to using is no regression, and other
    scores have no range for a margin.
    """
    from memflow.scoring.catalog import find_metric
    from memflow.scoring.comparisons import WHOLE
    from memflow.scoring.measures import MeanMeasure

    slices = {WHOLE, *(name for each in measures if isinstance(each, MeanMeasure) for name in each.slices)}
    for kind, wanted, known in (
        ("compared metric", request.options.metrics, {each.metric for each in measures}),
        ("slice", sorted(request.options.slices), slices),
    ):
        for name in wanted if measures else ():
            if name not in known:
                raise BadInput(unknown_name(kind, name, known))
    if request.options.metrics:
        return [each for each in measures if each.metric in request.options.metrics]
    return [
        each
        for each in measures
        if isinstance(each, MeanMeasure)
        and find_metric(each.metric).group == "quality"
        and find_metric(each.metric).is_bounded
    ]
