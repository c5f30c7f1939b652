"""memflow: benchmarks of memory in LLM assistants.

This package defines states, utterances, probes, feedback, memories and scores, and computes each of them. The package
depends on no Dagster, database, network client, environment variable or clock: seeds and clients are arguments.
resources/ connects to models and stores; assets/ defines the Dagster assets. Of this package, only memflow/operations,
memflow/rendering, memflow/cli and memflow/api import resources/ and assets/.

`memflow.evaluate`, `memflow.open` and `memflow.Results` are those of memflow.api, which the first use imports.
"""

from importlib import import_module
from typing import Any

API = ("Results", "evaluate", "open")


def __getattr__(name: str) -> Any:
    if name in API:
        return getattr(import_module("memflow.api"), name)
    raise AttributeError(f"module 'memflow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *API])
