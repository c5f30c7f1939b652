"""Protocol points of a benchmark in a YAML file of its package.

An item has the fields of `ProtocolPoint`. `setting` has its kind, its fields, and the values by profile; `concerns`
is the name of a condition that the benchmark defines.
"""

from collections.abc import Callable, Mapping
from typing import Any

from memflow.benchmarks.domain_names import PROFILES
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.protocol import ProtocolPoint
from memflow.benchmarks.protocol_settings import (
    EmbeddingModel,
    Fixed,
    MemoryParameter,
    Parameter,
    ProfiledSetting,
    PromptText,
    RoleModel,
    SampleLimit,
    Setting,
    Temperature,
    TokenLimit,
    Values,
    Variant,
)

KINDS: Mapping[str, type[Setting]] = {
    "parameter": Parameter,
    "temperature": Temperature,
    "token_limit": TokenLimit,
    "variant": Variant,
    "memory_parameter": MemoryParameter,
    "role_model": RoleModel,
    "embedding": EmbeddingModel,
    "prompts": PromptText,
    "sample_limit": SampleLimit,
    "fixed": Fixed,
}


def read_points(
    package: str, path: str, conditions: Mapping[str, Callable[[Domain], bool]]
) -> tuple[ProtocolPoint, ...]:
    """Return the points of a YAML file in a package. Raises KeyError for an unknown kind or condition."""
    return tuple(_point(dict(item), conditions) for item in load_yaml(package, path))


def _point(item: dict[str, Any], conditions: Mapping[str, Callable[[Domain], bool]]) -> ProtocolPoint:
    condition = item.pop("concerns", None)
    item["memories"] = tuple(item.get("memories", ()))
    setting = _setting(dict(item.pop("setting")))
    if condition is None:
        return ProtocolPoint(**item, setting=setting)
    return ProtocolPoint(**item, setting=setting, concerns=conditions[condition])


def _setting(fields: dict[str, Any]) -> Setting:
    kind = KINDS[fields.pop("kind")]
    if issubclass(kind, ProfiledSetting):
        fields["values"] = Values(**{name: fields.pop(name) for name in PROFILES if name in fields})
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return kind(**fields | lists)
