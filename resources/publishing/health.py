"""The health of assistants from the lake, summarized per domain and assistant, with a cache."""

from memflow.pipeline import partition_key
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog
from memflow.resources.publishing.score_cache import DomainCache
from memflow.scoring.health import overall_state
from memflow.scoring.published_health import AssistantHealth

HEALTH = "score.health"
KIND = "health"


def stored_health(lake: Lake, domain: str, assistant: str) -> AssistantHealth | None:
    """Return the health of an assistant in a domain; None if it was not measured.

    Raises the errors of `Lake.read`.
    """
    partition = partition_key(domain, assistant)
    if lake.facts(HEALTH, partition) is None:
        return None
    state, statement = overall_state(lake.read(HEALTH, partition))
    return AssistantHealth(state, statement.rstrip("."))


def cached_health(
    lake: Lake, catalog: PartitionCatalog, cache: DomainCache, domain: str, assistant: str
) -> AssistantHealth | None:
    """Return the health of an assistant from the cache of a domain, or else from the lake."""
    version = catalog.version(HEALTH, partition_key(domain, assistant))
    if not version:
        return None
    if cache.has(assistant, KIND, version):
        return AssistantHealth(*cache.get(assistant, KIND))
    health = stored_health(lake, domain, assistant)
    if health is not None:
        cache.put(assistant, KIND, version, [health.state, health.statement])
    return health
