"""Loading of data files that are part of a benchmark's package."""

from importlib.resources import files
from typing import Any

import yaml


def load_yaml(package: str, path: str) -> Any:
    """Return the content of a YAML file in a package."""
    return yaml.safe_load(files(package).joinpath(path).read_text(encoding="utf-8"))
