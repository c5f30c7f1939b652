"""The operands of `memflow compare`, `[DOMAIN/]ASSISTANT[:VARIANT][=TIME]`, their verdicts, and the inputs of these."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

from memflow.errors import BadInput
from memflow.operations.import_paths import assistant_name
from memflow.operations.moments import parse_moment
from memflow.records import Probe
from memflow.repeats import suffix, with_memory
from memflow.scoring.drift import INPUTS
from memflow.scoring.judges import STANDARD
from memflow.scoring.verdict_file import Evaluated, probes_digest
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.benchmarks.api import Benchmark
    from memflow.benchmarks.domains import Domain
    from memflow.resources.lake.lake import Lake
    from memflow.resources.publishing.comparisons import VerdictSource
    from memflow.scoring.measures import VerdictValues

SETTINGS = {
    "model": "model",
    "fingerprint": "model version",
    "embedder": "embedder",
    "simulator": "simulator version",
    "k": "k",
    "budget": "budget",
    "window": "context window",
    "replaced_prompts": "replaced prompts",
}
"""The metadata of verdicts that should be equal in a comparison, and their names in text."""
ADDRESS = re.compile(r"https?://[^/:=@]+(:\d+)?(/[^:=@]*)?")
IMPORT_PATH = re.compile(r"[\w.]+:[A-Z]\w*")
"""The import path of a class. A variant, which also follows a colon, begins with a small letter."""
SHORT = 12
"""Characters of a fingerprint that are shown."""


@dataclass(frozen=True)
class Operand:
    """One operand: an assistant, and optionally its domain, the variant of its verdicts and a moment."""

    assistant: str
    domain: str | None = None
    variant: str = STANDARD
    moment: str | None = None

    @property
    def label(self) -> str:
        """The operand as the user would type it."""
        domain = f"{self.domain}/" if self.domain else ""
        variant = f":{self.variant}" if self.variant != STANDARD else ""
        return f"{domain}{self.assistant}{variant}" + (f"={self.moment}" if self.moment else "")


class Stored(NamedTuple):
    """An operand in one domain, with its verdicts and its valid test probes by id."""

    operand: Operand
    source: "VerdictSource"
    probes: Mapping[str, Probe]


def parse_operand(text: str) -> Operand:
    """Return the operand in a text, which may have an import path or an address instead of the name of a memory.

    Raises BadInput for an invalid text.
    """
    for form in (ADDRESS, IMPORT_PATH):
        if found := form.search(text):
            text = f"{text[: found.start()]}{assistant_name(found[0])}{text[found.end() :]}"
    name, equals, moment = text.partition("=")
    domain, slash, rest = name.rpartition("/")
    assistant, colon, own = rest.partition(":")
    if not assistant or (slash and not domain) or (colon and not own) or (equals and not moment):
        raise BadInput(
            f"{text!r} is no assistant to compare. Use [DOMAIN/]ASSISTANT[:VARIANT][=TIME], such as full, "
            "DOMAIN~2/full, full:judge_NAME or full=2026-11-20T09:00."
        )
    return Operand(assistant, domain or None, own or STANDARD, moment or None)


def parse_operands(texts: Sequence[str]) -> list[Operand]:
    """Return the operands of a comparison. Raises BadInput for fewer than two, and for equal ones."""
    parsed = [*map(parse_operand, texts)]
    if len(set(parsed)) < 2:
        raise BadInput(
            "compare needs at least two different operands, such as `memflow compare bm25_message full`."
        )
    for text, operand in zip(texts, parsed, strict=True):
        if parsed.count(operand) > 1:
            raise BadInput(f"compare has the operand {text} twice. Name each operand once.")
    return parsed


def read_operands(
    lake: "Lake", operands: Sequence[Operand], domains: Sequence[str] | None = None
) -> list[list[Stored]]:
    """Return the stored operands by domain.

    Operands without a domain are read in each of `domains`, by default in all where all of them have verdicts. Raises
    BadInput with similar names for an unknown domain or assistant, and for an operand without verdicts at its moment.
    """
    from memflow.resources.publishing.comparisons import VERDICTS

    stored: dict[str, set[str]] = {}
    for partition in lake.partitions(VERDICTS):
        domain, _, assistant = partition.partition("/")
        stored.setdefault(domain, set()).add(assistant)
    if not stored:
        raise BadInput("the lake contains no verdicts. Create some with `memflow run --demo`.")
    for domain in (*(domains or ()), *(operand.domain for operand in operands if operand.domain)):
        if domain not in stored:
            raise BadInput(unknown_name("domain with verdicts", domain, stored, "memflow show leaderboard"))
    for operand in operands:
        known = stored[operand.domain] if operand.domain else set().union(*stored.values())
        if operand.assistant not in known:
            where = f" in {operand.domain}" if operand.domain else ""
            raise BadInput(unknown_name(f"assistant with verdicts{where}", operand.assistant, known))
    free = {operand.assistant for operand in operands if not operand.domain}
    shared = [name for name in (domains or stored) if free <= stored[name]] if free else [""]
    if not shared:
        raise BadInput(
            f"no domain has verdicts of all of {', '.join(sorted(free))}. Run them in the same domain, or name a "
            "domain for each, as in DOMAIN/ASSISTANT. `memflow show leaderboard` lists both."
        )
    return [[_read(lake, operand, operand.domain or name) for operand in operands] for name in shared]


def _read(lake: "Lake", operand: Operand, domain: str) -> Stored:
    """Return an operand's verdicts in a domain. Raises BadInput if there are none at its moment."""
    from memflow.resources.lake.past import PastLake
    from memflow.resources.publishing.comparisons import PROBES, VERDICTS, VerdictSource, valid_test_probes
    from memflow.resources.publishing.health import stored_health

    view = PastLake(lake, parse_moment(lake, operand.moment)) if operand.moment else lake
    partition = f"{domain}/{operand.assistant}"
    facts, probes = view.facts(VERDICTS, partition), view.facts(PROBES, domain)
    if facts is None or probes is None:
        raise BadInput(
            f"{domain} has no verdicts of {operand.assistant} at {operand.moment or 'this time'}. "
            f"`memflow show history` lists what was stored when."
        )
    if facts.meta.get("probes") != probes.digest:
        raise BadInput(
            f"the verdicts of {operand.assistant} in {domain} are of earlier probes. Rerun `memflow run --domain "
            f"{domain}` first."
        )
    played = view.facts("memory.transcripts", partition)
    version = {} if played is None else {"fingerprint": played.meta.get("fingerprint", "")}
    health = stored_health(view, domain, operand.assistant)
    source = VerdictSource(
        view, domain, operand.assistant, {**version, **facts.meta}, operand.variant, health
    )
    return Stored(operand, source, {probe.probe_id: probe for probe in valid_test_probes(view, domain)})


def values_of(stored: Sequence[Stored], benchmark: "Benchmark", probes: Sequence[Probe]) -> "VerdictValues":
    """Return the verdicts on `probes`: first those of the operands, then of the assistants that their scores depend on.

    These are the memory `oracle` with the same model, or everyone in the same domain at the same moment where the
    benchmark scores them together; of a repeat, those of the same repeat. Faulty ones have no part.
    """
    from memflow.resources.lake.partition_catalog import PartitionCatalog
    from memflow.resources.publishing.comparisons import PROBES, VERDICTS, current_assistants, verdict_values
    from memflow.resources.publishing.health import stored_health

    names = [operand.label for operand, _, _ in stored]
    sources = [source for _, source, _ in stored]
    oracles: list[int | None] = [None] * len(stored)
    places: dict[tuple[str, str | None, str], int] = {}
    for at, (operand, source, _) in enumerate(stored):
        repeat = suffix(f"{source.domain}/{source.assistant}")
        catalog = PartitionCatalog(source.lake, (PROBES, VERDICTS), repeat)
        oracle = with_memory(source.assistant, "oracle")
        for name, meta in current_assistants(catalog, source.domain).items():
            key = (source.domain, operand.moment, name)
            if (benchmark.aggregates_in_sql or name == oracle) and key not in places:
                health = stored_health(source.lake, source.domain, name)
                if health is not None and health.is_faulty:
                    continue
                places[key] = len(sources)
                names.append(f"{source.domain}/{name}={operand.moment or ''}")
                sources.append(replace(source, assistant=name, meta=meta, variant=STANDARD, health=health))
                oracles.append(None)
        oracles[at] = places.get((source.domain, operand.moment, oracle))
    return verdict_values(names, sources, oracles, probes)


def same_probes(operands: Sequence[Stored]) -> tuple[list[Probe], int]:
    """Return the probes of the first operand with the same content in all others, and how many differ.

    The content is question, options, gold and checkpoint. A probe that another operand lacks does not differ.
    """
    first, *others = operands
    equal = [
        probe
        for name, probe in first.probes.items()
        if all(_content(other.probes.get(name, probe)) == _content(probe) for other in others)
    ]
    return equal, len(first.probes) - len(equal)


def _content(probe: Probe) -> tuple[object, ...]:
    return probe.question, tuple(probe.options), probe.gold, probe.checkpoint


def differing_settings(operands: Sequence[Stored]) -> list[str]:
    """Return the settings in which operands that have them differ, each with the operands' values."""
    differing = []
    for name, title in SETTINGS.items():
        values = {
            operand.label: value if len(value) <= 2 * SHORT else value[:SHORT]
            for operand, source, _ in operands
            if (value := source.meta.get(name, "")) not in ("", "0")
        }
        if len(set(values.values())) > 1:
            differing.append(f"{title}: {', '.join(f'{label} {value}' for label, value in values.items())}")
    return differing


def withheld_metrics(stored: Stored) -> dict[str, str]:
    """Return the reason for each metric whose judge failed its calibration, so that no verdict has a value."""
    from memflow.resources.publishing.comparisons import VERDICTS
    from memflow.scoring.calibrations import NOT_SCORED

    key = f"{stored.source.domain}/{stored.source.assistant}"
    rows = stored.source.lake.columns(VERDICTS, key, ("metric", "variant", "reason"))
    return {
        metric: reason[reason.index(NOT_SCORED) :]
        for metric, variant, reason in rows
        if variant == stored.source.variant and reason is not None and NOT_SCORED in reason
    }


def missing_reasons(stored: Stored, metric: str, limit: int = 3) -> list[tuple[str, int]]:
    """Return up to `limit` (reason, count) pairs of a metric's verdicts without a value, most frequent first."""
    from memflow.resources.publishing.comparisons import VERDICTS

    key = f"{stored.source.domain}/{stored.source.assistant}"
    rows = stored.source.lake.columns(VERDICTS, key, ("metric", "variant", "value", "reason"))
    reasons = Counter(
        reason or "no reason given"
        for of_metric, variant, value, reason in rows
        if of_metric == metric and variant == stored.source.variant and value is None
    )
    return reasons.most_common(limit)


def evaluated_of(stored: Stored, domain: "Domain") -> Evaluated:
    """Return what the verdicts of an operand depend on, for the header of a verdict file."""
    from memflow.resources.report.redaction import Redaction

    meta, health, redaction = stored.source.meta, stored.source.health, Redaction(texts=False)
    inputs: dict[str, str] = json.loads(meta.get(INPUTS, "{}"))
    return Evaluated(
        memflow=version("memflow-bench"),
        benchmark=domain.benchmark,
        domain=domain.name,
        assistant=stored.operand.assistant,
        model=meta["model"],
        scripted=meta.get("scripted") == "yes",
        inputs={name: redaction.text(value) or "" for name, value in inputs.items()},
        settings={name: redaction.text(meta[name]) or "" for name in SETTINGS if meta.get(name, "0") != "0"},
        probes=probes_digest(stored.probes.values()),
        health=None if health is None else health.state,
        health_reason=None if health is None else redaction.statement(health.statement),
        run=meta.get("run"),
    )
