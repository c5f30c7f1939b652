"""Bundles: an evaluation of the lake with its judges' replies, and the verdicts of a bundle computed again."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

from memflow.benchmarks import registry
from memflow.chat.requests import Chat, Completion
from memflow.concurrency import run_coroutine
from memflow.errors import BadInput, MissingData
from memflow.judges.recorded import RecordedJudge, request_key
from memflow.judges.withheld import without_withheld
from memflow.labels import meta_label
from memflow.metrics.backends import EMBEDDER
from memflow.operations.operands import Stored, evaluated_of, parse_operand, read_operands
from memflow.records import Probe, Verdict
from memflow.scoring.bundle_file import Bundle, JudgeReply, Manifest, read_bundle, write_bundle
from memflow.scoring.drift import INPUTS
from memflow.scoring.judges import parse_variant
from memflow.scoring.published_health import ALARMS, FAULTY, NOT_MEASURED
from memflow.scoring.verdict_file import probes_digest, verdict_text

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

PROBES, VERDICTS = "question.probes", "score.verdicts"
PACKAGES = ("nltk", "numpy", "pydantic", "python-dateutil", "rapidfuzz", "rjieba", "scipy", "textstat")
"""The packages that metrics compute with."""
TOLERANCE = 1e-6
"""The difference of values that is rounding: metrics of embeddings differ between processors."""


class VerdictPair(NamedTuple):
    """A value of a bundle, and the same value computed again; `reason` is why there is no second one."""

    probe_id: str
    metric: str
    variant: str
    stored: float | None
    again: float | None
    reason: str | None

    @property
    def is_same(self) -> bool:
        """Whether both have no value, or equal values."""
        if self.stored is None or self.again is None:
            return self.stored is self.again
        return math.isclose(self.stored, self.again, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def bundle_evaluation(settings: "Settings", lake: "Lake", domain: str, assistant: str) -> bytes:
    """Return the bytes of a bundle. Raises BadInput if its verdicts do not follow from the stored answers."""
    from memflow.resources.ledger.reading import decompress_messages, read_judge_replies
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.publishing.health import stored_calibrations
    from memflow.resources.report.licenses import may_be_shared
    from memflow.resources.report.redaction import Redaction
    from memflow.resources.settings.prompt_folders import activate_prompts

    of, operand = settings.domain(domain), replace(parse_operand(assistant), domain=domain)
    [[stored]] = read_operands(lake, [operand])
    activate_prompts(settings)
    view, meta, key = stored.source.lake, stored.source.meta, f"{domain}/{operand.assistant}"
    probes, benchmark = list(stored.probes.values()), registry.benchmark(of.benchmark)
    licenses = {name: settings.datasets[name].licence for name in of.datasets}
    texts = all(map(may_be_shared, licenses.values()))
    variables = [settings.embedder.key_variable, *(model.key_variable for model in settings.models.values())]
    redaction = Redaction.of_environment(variables, texts=texts)
    prompts = {prompt.name: prompt for prompt in benchmark.judge_prompts(of, VERDICTS)}
    with SqlLedger(settings.ledger_url) as ledger, ledger.connect() as connection:
        rows = read_judge_replies(connection, meta.get("run", ""), domain, operand.assistant)
    parameters: dict[str, dict[str, None]] = {}
    judged: dict[tuple[str, str], JudgeReply] = {}
    # The reply to a cut request with a larger limit replaces the cut one.
    for row in sorted(rows, key=lambda row: int(json.loads(row.parameters)["max_tokens"])):
        if row.prompt in prompts:
            request = request_key(decompress_messages(row.messages), row.schema, row.attempt)
            judged[row.judge, request] = JudgeReply(row.judge, row.prompt, request, row.text, row.end)
            parameters.setdefault(row.judge, {})[row.parameters] = None
    manifest = Manifest(
        domain=of,
        data={name: facts.digest for name in of.datasets if (facts := view.facts("raw.records", name))},
        licenses=licenses,
        probes={probe.probe_id: probes_digest([probe]) for probe in probes},
        judges={name: [*map(json.loads, texts_of_judge)] for name, texts_of_judge in parameters.items()},
        prompts={f"{prompt.name}@{prompt.digest[:8]}": [*prompt.sections] for prompt in prompts.values()},
        calibrations=[
            replace(row, reason=redaction.text(row.reason)) for row in stored_calibrations(view, domain, meta)
        ],
        packages={name: version(name) for name in PACKAGES},
        settings={name: redaction.text(value) or "" for name, value in meta.items() if name != INPUTS},
        labels=[redaction.statement(label) or "" for label in _labels(stored, key)],
    )
    content = write_bundle(
        manifest,
        verdict_text(
            evaluated_of(stored, of), view.read(VERDICTS, key), benchmark.compared_slices(of, probes)
        ),
        [
            replace(reply, reason=redaction.reason(reply.reason), recall_failures=[])
            for reply in view.read("answer.replies", key)
            if reply.probe_id in stored.probes
        ],
        probes if texts else (),
        judged.values(),
    )
    bundle = read_bundle(content, f"the bundle of {key}")
    if different := [
        pair for pair in _pairs(bundle, _verdicts(settings, bundle, probes)) if not pair.is_same
    ]:
        raise BadInput(
            f"{len(different):,} verdicts of {key} do not follow from its answers (the first: {different[0][:3]}). "
            f"Rerun `memflow run --domain {domain}` with the options of its run, then export again."
        )
    return content


def verify_bundle(
    settings: "Settings", lake: "Lake", bundle: Bundle, asks: bool = False
) -> tuple[list[VerdictPair], list[str]]:
    """Return the verdicts of a bundle, each with the one computed again, and notices. No request is sent.

    With `asks`, the judges of the settings are asked. Raises BadInput if the probes are not those of the bundle.
    """
    from memflow.resources.imported_judgments import judge_replies
    from memflow.resources.settings.prompt_folders import activate_prompts

    header, domain = bundle.verdicts.header, bundle.manifest.domain
    activate_prompts(settings)
    prompts = registry.benchmark(domain.benchmark).judge_prompts(domain, VERDICTS)
    others = {*bundle.manifest.prompts} - {f"{prompt.name}@{prompt.digest[:8]}" for prompt in prompts}
    notices = [f"The installed judge prompt is another than {name}" for name in sorted(others)]
    if header.health == FAULTY:
        notices.append(f"The memory is {NOT_MEASURED}: {header.health_reason}")
    verdicts: Sequence[Verdict] = ()
    try:
        probes = _same_probes(bundle, bundle.probes or _own_probes(settings, lake, domain))
    except MissingData as wrong:
        notices.append(f"The gold is missing, so that nothing was computed again: {str(wrong).rstrip('.')}")
    else:
        if asks:
            verdicts = judge_replies(settings, domain, header.assistant, probes, bundle.replies, "verify")
        else:
            verdicts = _verdicts(settings, bundle, probes)
    pairs = [pair for pair in _pairs(bundle, verdicts) if not (asks and parse_variant(pair.variant).judge)]
    return pairs, notices


def metric_means(pairs: Sequence[VerdictPair], is_faulty: bool) -> list[dict[str, Any]]:
    """Return one row per metric and variant: the means `stored` and `again`, and numbers of verdicts.

    A mean is None without values, and for a faulty memory. `verdicts` counts the stored values, `lost` those without a
    second value, and `changed` the verdicts that differ otherwise.
    """
    groups: dict[tuple[str, str], list[VerdictPair]] = {}
    for pair in pairs:
        groups.setdefault((pair.metric, pair.variant), []).append(pair)
    rows = []
    for (metric, variant), group in sorted(groups.items()):
        row: dict[str, Any] = {"metric": metric, "variant": variant}
        for name in ("stored", "again"):
            values = [getattr(pair, name) for pair in group if getattr(pair, name) is not None]
            row[name] = math.fsum(values) / len(values) if values and not is_faulty else None
        row["verdicts"] = sum(pair.stored is not None for pair in group)
        row["lost"] = sum(pair.stored is not None and pair.again is None for pair in group)
        row["changed"] = sum(not pair.is_same for pair in group) - row["lost"]
        rows.append(row)
    return rows


def _verdicts(settings: "Settings", bundle: Bundle, probes: Sequence[Probe]) -> list[Verdict]:
    """Return the verdicts that follow from the answers and the judges' replies of a bundle."""
    from memflow.resources.imported_judgments import judge_replies
    from memflow.resources.metric_backends.backends import build_metric_backends

    domain = bundle.manifest.domain
    replies: dict[str, dict[str, Completion]] = {name: {} for name in bundle.manifest.judges or ("none",)}
    for row in bundle.judge_replies:
        replies[row.judge][row.request] = Completion(row.text, digest=row.request, end=row.end)
    judges: dict[str, Chat] = {name: RecordedJudge(recorded) for name, recorded in replies.items()}
    judges = {**without_withheld(judges, bundle.manifest.calibrations)}
    benchmark = registry.benchmark(domain.benchmark)
    used = benchmark.metric_backends(domain)
    if EMBEDDER in used:  # its vectors are cached by the ledger
        header = bundle.verdicts.header
        return judge_replies(settings, domain, header.assistant, probes, bundle.replies, "verify", judges)
    backends = build_metric_backends(settings, used, judges)
    return run_coroutine(benchmark.verdicts(domain, probes, bundle.replies, backends))


def _pairs(bundle: Bundle, verdicts: Iterable[Verdict]) -> Iterator[VerdictPair]:
    """Yield each verdict of a bundle with the one computed again."""
    stored = {(line.probe_id, line.metric, line.variant): line.value for line in bundle.verdicts.lines}
    again = {(row.probe_id, row.metric, row.variant): (row.value, row.reason) for row in verdicts}
    compared = {line.probe_id for line in bundle.verdicts.lines}
    for key in dict.fromkeys((*stored, *(key for key in again if key[0] in compared))):
        yield VerdictPair(*key, stored.get(key), *again.get(key, (None, None)))


def _same_probes(bundle: Bundle, probes: Sequence[Probe]) -> list[Probe]:
    """Return the probes of a bundle with their gold. Raises BadInput if they have other contents."""
    contents = {probe.probe_id: probes_digest([probe]) for probe in probes}
    hashes = bundle.manifest.probes
    if differing := [name for name, content in hashes.items() if contents.get(name) != content]:
        raise BadInput(
            f"{len(differing):,} of {len(hashes):,} probes of {bundle.manifest.domain.name} are not those of the "
            f"bundle (the first: {differing[0]}). Use the data that it was made with, of the same version."
        )
    return [probe for probe in probes if probe.probe_id in hashes]


def _own_probes(settings: "Settings", lake: "Lake", domain: "Domain") -> list[Probe]:
    """Return the valid test probes of a domain from the lake, or else from its data sets, without a request.

    Raises MissingData if neither has them.
    """
    from memflow.resources.data.library import Library
    from memflow.resources.publishing.comparisons import valid_test_probes

    if lake.facts(PROBES, domain.name) is not None:
        return valid_test_probes(lake, domain.name)
    benchmark, library = registry.benchmark(domain.benchmark), Library(settings.data, settings.datasets)
    datasets, _ = library.datasets_of(domain)
    simulated = benchmark.simulator_stages(domain) & {"state", "utterance", "question"}
    if simulated or benchmark.annotation_prompts(domain):
        raise MissingData(
            f"a model generated the probes of {domain.name}. Generate them with `memflow run --domain {domain.name} "
            "--memory none`, then verify again."
        )
    records = [row for dataset in datasets for row in benchmark.records(dataset, library.paths(dataset))]
    nobody = RecordedJudge({})

    async def generate() -> list[Probe]:
        states = await benchmark.states(domain, records, nobody)
        turns = await benchmark.turns(domain, records, states, nobody)
        labels = await benchmark.gold_labels(domain, records, turns, None)
        return await benchmark.probes(domain, records, states, turns, nobody, labels)

    return [probe for probe in run_coroutine(generate()) if probe.split == "test" and probe.reason is None]


def _labels(stored: Stored, key: str) -> Iterator[str]:
    """Yield what was really used, what the results lack, and an alarm of the memory's health."""
    from memflow.resources.publishing.completeness import all_gaps

    source = stored.source
    yield meta_label([source.meta]) or "real"
    if gaps := all_gaps(source.lake.facts(PROBES, source.domain), source.lake.facts(VERDICTS, key)):
        yield gaps
    if source.health is not None and source.health.state in ALARMS:
        yield f"{source.health.state}: {source.health.statement}"
