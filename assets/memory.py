"""Stage `memory`: every episode, played with an assistant's memory, one domain and assistant per partition.

`memory.indexes` has the entries of the memory. Their LanceDB table is built when they are searched:
resources/indexes/search.py, and the asset score/retrieval.
"""

import dagster as dg

from memflow.assets.automation import when_inputs_settle
from memflow.assets.step_assets import StepAssets, upstream_of

ENTRIES = "memory.indexes"


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the assets memory/transcripts, memory/indexes, memory/policies and memory/feedback."""
    return [factory.of_partitions(ENTRIES, when_inputs_settle(upstream_of(ENTRIES)))]
