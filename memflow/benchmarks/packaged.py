"""Loading of data files that are part of a benchmark's package."""

from importlib.resources import files
from typing import Any


def load_yaml(package: str, path: str) -> Any:
    """Return the content of a YAML file in a package."""
    import yaml  # noqa: PLC0415  (commands that show no data start faster without it)

    return yaml.safe_load(files(package).joinpath(path).read_text(encoding="utf-8"))
