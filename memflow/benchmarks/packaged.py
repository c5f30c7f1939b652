"""Loading of data files that are part of a benchmark's package."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def load_yaml(package: str, path: str) -> Any:
    """Return the content of a YAML file in a package."""
    import yaml  # noqa: PLC0415  (commands that show no data start faster without it)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C: eight times as fast
    return yaml.load(files(package).joinpath(path).read_text(encoding="utf-8"), Loader=loader)


def load_toml(package: str, path: str) -> dict[str, Any]:
    """Return the content of a TOML file in a package, with tuples for lists."""
    content: dict[str, Any] = _tuples(
        tomllib.loads(files(package).joinpath(path).read_text(encoding="utf-8"))
    )
    return content


def _tuples(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
