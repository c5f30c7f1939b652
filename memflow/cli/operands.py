"""The operands of `memflow compare`: `[DOMAIN/]ASSISTANT[:VARIANT][=TIME]`, and the verdicts that they name."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from memflow.cli.moments import parse_moment
from memflow.errors import BadInput
from memflow.records import Probe
from memflow.repeats import suffix
from memflow.scoring.judges import STANDARD
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from resources.lake.lake import Lake
    from resources.publishing.comparisons import VerdictSource

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
    """Return the operand in a text. Raises BadInput for an invalid text."""
    name, equals, moment = text.partition("=")
    domain, slash, rest = name.rpartition("/")
    assistant, colon, own = rest.partition(":")
    if not assistant or (slash and not domain) or (colon and not own) or (equals and not moment):
        raise BadInput(
            f"{text!r} is no assistant to compare. Use [DOMAIN/]ASSISTANT[:VARIANT][=TIME], such as full, "
            "DOMAIN~2/full, full:judge_NAME or full=2026-11-20T09:00."
        )
    return Operand(assistant, domain or None, own or STANDARD, moment or None)


def domains_of(
    lake: "Lake", operands: Sequence[Operand], wanted: Sequence[str] | None
) -> list[dict[int, str]]:
    """Return the domains to compare in: the domain of each operand, by its position.

    Operands without a domain are compared in each of `wanted`, by default in all domains where all of them have
    verdicts. Raises BadInput with similar names for an unknown domain or assistant.
    """
    from resources.publishing.comparisons import VERDICTS

    stored: dict[str, set[str]] = {}
    for partition in lake.partitions(VERDICTS):
        domain, _, assistant = partition.partition("/")
        stored.setdefault(domain, set()).add(assistant)
    if not stored:
        raise BadInput("the lake contains no verdicts. Create some with `memflow run --demo`.")
    for domain in (*(wanted or ()), *(each.domain for each in operands if each.domain)):
        if domain not in stored:
            raise BadInput(unknown_name("domain with verdicts", domain, stored, "memflow show leaderboard"))
    for each in operands:
        known = stored[each.domain] if each.domain else set().union(*stored.values())
        if each.assistant not in known:
            where = f" in {each.domain}" if each.domain else ""
            raise BadInput(unknown_name(f"assistant with verdicts{where}", each.assistant, known))
    if all(each.domain for each in operands):
        return [{at: each.domain or "" for at, each in enumerate(operands)}]
    free = {each.assistant for each in operands if not each.domain}
    shared = [name for name in (wanted or stored) if free <= stored[name]]
    if not shared:
        names = ", ".join(sorted(free))
        raise BadInput(
            f"no domain has verdicts of all of {names}. Run them in the same domain, or name a domain for each, as in "
            "DOMAIN/ASSISTANT. `memflow show leaderboard` lists both."
        )
    return [{at: each.domain or name for at, each in enumerate(operands)} for name in shared]


def read_operand(lake: "Lake", operand: Operand, domain: str) -> Stored:
    """Return an operand's verdicts in a domain. Raises BadInput if there are none at its moment."""
    from resources.lake.past import PastLake
    from resources.publishing.comparisons import PROBES, VERDICTS, VerdictSource, valid_test_probes
    from resources.publishing.health import stored_health

    view = PastLake(lake, parse_moment(lake, operand.moment)) if operand.moment else lake
    facts = view.facts(VERDICTS, f"{domain}/{operand.assistant}")
    probes = view.facts(PROBES, domain)
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
    played = view.facts("memory.transcripts", f"{domain}/{operand.assistant}")
    version = {} if played is None else {"fingerprint": played.meta.get("fingerprint", "")}
    meta = {**version, **facts.meta}
    health = stored_health(view, domain, operand.assistant)
    source = VerdictSource(view, domain, operand.assistant, meta, operand.variant, health)
    return Stored(operand, source, {probe.probe_id: probe for probe in valid_test_probes(view, domain)})


def with_others(
    stored: Sequence[Stored], *, everyone: bool
) -> tuple[list[str], list["VerdictSource"], list[int | None]]:
    """Return the names and verdicts of the operands and of the assistants that their scores depend on.

    These are the memory `oracle` with the same model, or `everyone` in the same domain at the same moment, without
    faulty ones; of a repeat, those of the same repeat. The third list has the position of each one's oracle.
    """
    from memflow.scoring.leaderboard import bound
    from resources.lake.partition_catalog import PartitionCatalog
    from resources.publishing.comparisons import PROBES, VERDICTS, current_assistants
    from resources.publishing.health import stored_health

    names = [each.operand.label for each in stored]
    sources = [each.source for each in stored]
    oracles: list[int | None] = [None] * len(stored)
    places: dict[tuple[str, str | None, str], int] = {}
    for at, each in enumerate(stored):
        source, moment = each.source, each.operand.moment
        repeat = suffix(f"{source.domain}/{source.assistant}")
        catalog = PartitionCatalog(source.lake, (PROBES, VERDICTS), repeat)
        oracle = bound(source.assistant, "oracle")
        for name, meta in current_assistants(catalog, source.domain).items():
            key = (source.domain, moment, name)
            if (everyone or name == oracle) and key not in places:
                health = stored_health(source.lake, source.domain, name)
                if health is not None and health.is_faulty:
                    continue
                places[key] = len(sources)
                names.append(f"{source.domain}/{name}={moment or ''}")
                sources.append(replace(source, assistant=name, meta=meta, variant=STANDARD, health=health))
                oracles.append(None)
        oracles[at] = places.get((source.domain, moment, oracle))
    return names, sources, oracles


def same_probes(operands: Sequence[Stored]) -> tuple[list[Probe], int]:
    """Return the probes that all operands have with the same question, options and gold, and how many differ."""
    first, *others = operands
    kept, changed = [], 0
    for name, probe in first.probes.items():
        versions = [each.probes.get(name) for each in others]
        if any(each is not None and _content(each) != _content(probe) for each in versions):
            changed += 1
        else:
            kept.append(probe)
    return kept, changed


def _content(probe: Probe) -> tuple[object, ...]:
    return probe.question, tuple(probe.options), probe.gold, probe.checkpoint


def differing_settings(operands: Iterable[Stored]) -> list[str]:
    """Return the settings in which operands that have them differ, each with the operands' values."""
    stored = list(operands)
    found = []
    for name, title in SETTINGS.items():
        values = {
            each.operand.label: value if len(value) <= 2 * SHORT else value[:SHORT]
            for each in stored
            if (value := each.source.meta.get(name, "")) not in ("", "0")
        }
        if len(set(values.values())) > 1:
            found.append(f"{title}: {', '.join(f'{label} {value}' for label, value in values.items())}")
    return found


def missing_reasons(stored: Stored, metric: str, limit: int = 3) -> list[tuple[str, int]]:
    """Return the most frequent reasons why verdicts of a metric have no value, with their numbers."""
    from resources.publishing.comparisons import VERDICTS

    key = f"{stored.source.domain}/{stored.source.assistant}"
    rows = stored.source.lake.columns(VERDICTS, key, ("metric", "variant", "value", "reason"))
    reasons = Counter(
        reason or "no reason given"
        for of_metric, variant, value, reason in rows
        if of_metric == metric and variant == stored.source.variant and value is None
    )
    return reasons.most_common(limit)
