"""Values of a benchmark's protocol points in a run, read from the settings or from metadata of the verdicts.

memflow/benchmarks/protocol.py declares the points and compares the values with the published protocol.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain, RoleDecoding, parse_parameters
from memflow.benchmarks.protocol import ProtocolPoint
from memflow.benchmarks.protocol_file import read_points
from memflow.benchmarks.protocol_settings import (
    ALL,
    OWN_WORDS,
    REPLACED,
    STANDARD,
    EmbeddingModel,
    Fixed,
    MemoryParameter,
    Parameter,
    PromptText,
    RoleModel,
    SampleLimit,
    Setting,
    Temperature,
    TokenLimit,
    Variant,
)
from memflow.chat.prompts import load
from memflow.chat.replacements import replacements
from memflow.chat.requests import Sampling, TokenBound
from memflow.memories.deviations import deviations_of
from memflow.pipeline import partition_key
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.completeness import all_gaps
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.settings import Settings

VERDICTS = "score.verdicts"
PROTOCOL = "protocol"
"""The metadata key of the values, stored with an assistant's verdicts."""
ASSISTANT_ROLES = ("assistant", "memory")
"""The roles that an assistant's own model plays."""


def points_of(settings: Settings, domain: Domain, assistant: str) -> list[ProtocolPoint]:
    """Return the points that concern a domain and an assistant: its benchmark's, those of all, and the memory's."""
    system = settings.memory_of(assistant).system
    points = (*registry.protocol(domain.benchmark).points, *_shared_points())
    return [
        *(
            point
            for point in points
            if point.concerns(domain) and (not point.memories or system.name in point.memories)
        ),
        *(
            _memory_point(point)
            for point in deviations_of(system)
            if point.get("benchmark", domain.benchmark) == domain.benchmark
        ),
    ]


@cache
def _shared_points() -> tuple[ProtocolPoint, ...]:
    return read_points("memflow.benchmarks", "protocol.yaml", {})


def _memory_point(point: Mapping[str, Any]) -> ProtocolPoint:
    """Return a point that a memory declares, in whose text the paper and the published code are one."""
    topic, prompts = f"{point['owner']}: {point['topic']}", tuple(point.get("prompts", ()))
    setting = PromptText(prompts) if prompts else Fixed(as_published=False)
    source = "the memory's paper and published code"
    return ProtocolPoint(topic, topic, "", point["memflow"], source, setting, published=point["published"])


def protocol_values(settings: Settings, domain: Domain, assistant: str) -> dict[str, Any]:
    """Return the values of adjustable points for the domain and the assistant, by point name, without missing ones."""
    parameters = registry.protocol(domain.benchmark).parameters
    values = {}
    for point in points_of(settings, domain, assistant):
        if not isinstance(point.setting, Fixed):
            value = _Reader(settings, domain, assistant, parameters).value(point.setting)
            if value is not None:
                values[point.name] = value
    return values


def protocol_meta(table: str, settings: Settings, domain: Domain, assistant: str) -> dict[str, str]:
    """Return the values, as JSON under PROTOCOL, to store with verdicts; {} for other tables and without values."""
    if table != VERDICTS:
        return {}
    # resources/publishing/completeness.py stores the sample; a change of shown variants alone computes no verdict again
    others = {point.name for point in _points(domain, SampleLimit, Variant)}
    values_of_points = protocol_values(settings, domain, assistant)
    values = {name: value for name, value in values_of_points.items() if name not in others}
    return {PROTOCOL: json.dumps(values, sort_keys=True, default=str)} if values else {}


def stored_values(lake: Lake, domain: Domain, assistant: str) -> dict[str, Any] | None:
    """Return the values stored with an assistant's verdicts; None if none are stored.

    The variants are those that the domain's profile shows now, since every variant is stored.
    """
    verdicts = lake.intact_facts(VERDICTS, partition_key(domain.name, assistant))
    if verdicts is None or PROTOCOL not in verdicts.meta:
        return None
    sample = all_gaps(lake.intact_facts("question.probes", domain.name), verdicts) or ALL
    return {
        **json.loads(verdicts.meta[PROTOCOL]),
        **{point.name: _shown_variant(point.setting, domain) for point in _points(domain, Variant)},
        **{point.name: sample for point in _points(domain, SampleLimit)},
    }


def _points(domain: Domain, *kinds: type[Setting]) -> list[ProtocolPoint]:
    """Return the points that concern a domain and have a setting of one of the kinds."""
    points = registry.protocol(domain.benchmark).points
    return [point for point in points if isinstance(point.setting, kinds) and point.concerns(domain)]


def _shown_variant(setting: Any, domain: Domain) -> str:
    """Return the variant of a `Variant` setting that tables of a domain show first."""
    return str(setting.values.of(domain.profile) or STANDARD)


class _Reader:
    """A reader of setting values for one domain and assistant; None if a setting does not apply to the assistant."""

    def __init__(self, settings: Settings, domain: Domain, assistant: str, parameters: Any) -> None:
        self.settings = settings
        self.domain = domain
        self.assistant = assistant
        self.parameters = parameters
        self.memory = settings.memory_of(assistant)

    def value(self, setting: Setting) -> Any:
        match setting:
            case Parameter(name=name):
                value = parse_parameters(self.parameters, self.domain).model_dump(mode="json")[name]
            case Temperature(role=role):
                value = self._decoding(role)[1].temperature
            case TokenLimit(role=role, prompt=stem):
                own = load(self._package, stem).max_tokens if stem else None
                value = self._decoding(role)[0].of(own)
            case Variant():
                value = _shown_variant(setting, self.domain)
            case MemoryParameter(memory=memory, name=name):
                value = self.memory.values.get(name) if self.memory.system.name == memory else None
            case RoleModel(role=role):
                value = ", ".join(model.model for model in self._models(role))
            case EmbeddingModel():
                value = self.settings.embedder.name if self.memory.system.needs_embedder else None
            case PromptText():
                replaced = {*setting.names(self.domain.benchmark)} <= {*replacements()}
                value = REPLACED if replaced else OWN_WORDS
            case SampleLimit():
                value = self.domain.limit or ALL
            case _:
                value = None
        return value

    @property
    def _package(self) -> str:
        return registry.spec_of(self.domain.benchmark).implementation.partition(":")[0].rpartition(".")[0]

    def _decoding(self, role: str) -> tuple[TokenBound, Sampling]:
        decoding = self.domain.decoding.get(role, RoleDecoding())
        return decoding.applied(self.settings.token_limits.of(role), self._models(role)[0].sampling())

    def _models(self, role: str) -> list[Model]:
        """Return the models of a role; only the role `judge` may have several."""
        if role in ASSISTANT_ROLES:
            return [self.settings.model(self.settings.model_of(self.assistant))]
        named = getattr(self.settings.roles, role)
        return [self.settings.model(name) for name in ([named] if isinstance(named, str) else named)]
