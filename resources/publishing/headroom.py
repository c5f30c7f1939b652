"""The retrieval headroom of assistants, computed from the stored rows of score.retrieval."""

from collections.abc import Collection

from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings
from memflow.scoring.headroom import Headroom, headroom

RETRIEVAL = "score.retrieval"


def stored_headroom(
    settings: Settings, lake: Lake, partitions: Collection[str] | None = None
) -> list[Headroom]:
    """Return the headroom of all measured assistants, or of those of some partitions, by domain and assistant."""
    found = []
    for partition in lake.current_partitions(RETRIEVAL):
        domain, _, assistant = partition.partition("/")
        if partitions is None or partition in partitions:
            seed = settings.domain(domain).seed if settings.has_domain(domain) else 0
            found.append(headroom(domain, assistant, lake.read(RETRIEVAL, partition), seed))
    return found
