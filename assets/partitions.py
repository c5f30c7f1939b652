"""The partitions of each scope of the pipeline: data set, domain, domain x assistant. Keys come from the settings.

Dagster allows at most two dimensions. So other variables, such as the simulator's model or the embedder, are data
versions and not partitions.
"""

from dataclasses import dataclass

import dagster as dg

from memflow.pipeline import Scope
from memflow.resources.settings.settings import Settings


@dataclass(frozen=True)
class Partitions:
    """The partition definitions of the settings, and the mapping of data set partitions to domain partitions."""

    dataset: dg.StaticPartitionsDefinition
    domain: dg.StaticPartitionsDefinition
    assistant: dg.StaticPartitionsDefinition
    domain_assistant: dg.MultiPartitionsDefinition
    dataset_to_domain: dg.StaticPartitionMapping

    @classmethod
    def of(cls, settings: Settings) -> "Partitions":
        """Return the partition definitions of the settings."""
        domains = dg.StaticPartitionsDefinition(list(settings.domains))
        assistants = dg.StaticPartitionsDefinition(list(settings.assistant_partitions))
        domains_of: dict[str, list[str]] = {name: [] for name in settings.datasets}
        for name in settings.domains:
            for dataset in settings.domain(name).datasets:
                domains_of.setdefault(dataset, []).append(name)
        return cls(
            dataset=dg.StaticPartitionsDefinition(list(domains_of)),
            domain=domains,
            assistant=assistants,
            domain_assistant=dg.MultiPartitionsDefinition({"domain": domains, "assistant": assistants}),
            dataset_to_domain=dg.StaticPartitionMapping(
                {name: names for name, names in domains_of.items() if names}
            ),
        )

    def of_scope(self, scope: Scope) -> dg.PartitionsDefinition | None:
        """Return the partitions definition of a pipeline scope; None for an unpartitioned scope."""
        by_scope: dict[Scope, dg.PartitionsDefinition] = {
            "dataset": self.dataset,
            "domain": self.domain,
            "domain x assistant": self.domain_assistant,
        }
        return by_scope.get(scope)


def pair(domain: str, assistant: str) -> dg.MultiPartitionKey:
    """Return the Dagster partition key of a domain and an assistant."""
    return dg.MultiPartitionKey({"domain": domain, "assistant": assistant})


def parts(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> tuple[str, str]:
    """Return the domain and the assistant of the partition of a Dagster run.

    The assistant is empty if the partition has one dimension.
    """
    key = context.partition_key
    if isinstance(key, dg.MultiPartitionKey):
        return key.keys_by_dimension["domain"], key.keys_by_dimension["assistant"]
    return key, ""
