"""The dimensions of MemoryOS's user traits, in the paper's three groups (section 3.3).

The paper has the 90 dimensions of Li et al. 2025 (arXiv 2503.15463): 40 needs and traits of personality, 7 of AI
alignment, and 43 interests. The prompt of the published package speaks of 90 and lists 51.
"""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

DIMENSIONS: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(
    files("memflow.memories.memory_os").joinpath("dimensions.toml").read_text(encoding="utf-8")
)
"""The names of the dimensions by version and group."""


def dimension_names(version: str) -> frozenset[str]:
    """Return the names of all dimensions of a version, `paper` or `published_code`."""
    return frozenset(name for names in DIMENSIONS[version].values() for name in names)


def dimension_lists(version: str) -> str:
    """Return the dimensions of a version as text for a prompt, one group per line."""
    return "\n".join(f"{group}: {', '.join(names)}" for group, names in DIMENSIONS[version].items())
