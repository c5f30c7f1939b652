"""The partitions: raw data by data set, the left half of the walk by domain, the right half by domain and assistant.

Dagster allows two dimensions, so whatever else varies (the simulator's model, the embedder) is a data version and not
a partition. Keys come from the settings; everything built here takes a `Partitions`.
"""

from dataclasses import dataclass

import dagster as dg

from resources.settings import Settings


@dataclass(frozen=True)
class Partitions:
    """The partition definitions of one set of settings, and the mapping between their shapes."""

    dataset: dg.StaticPartitionsDefinition
    domain: dg.StaticPartitionsDefinition
    assistant: dg.StaticPartitionsDefinition
    domain_assistant: dg.MultiPartitionsDefinition
    dataset_to_domain: dg.StaticPartitionMapping

    @classmethod
    def of(cls, settings: Settings) -> "Partitions":
        """The partitions that the settings ask for."""
        domains = dg.StaticPartitionsDefinition(list(settings.domains))
        assistants = dg.StaticPartitionsDefinition(list(settings.assistants))
        leads: dict[str, list[str]] = {name: [] for name in settings.datasets}
        for name in settings.domains:
            for dataset in settings.domain(name).datasets:
                leads.setdefault(dataset, []).append(name)
        return cls(
            dataset=dg.StaticPartitionsDefinition(list(leads)),
            domain=domains,
            assistant=assistants,
            domain_assistant=dg.MultiPartitionsDefinition({"domain": domains, "assistant": assistants}),
            dataset_to_domain=dg.StaticPartitionMapping({name: lead for name, lead in leads.items() if lead}),
        )


def pair(domain: str, assistant: str) -> dg.MultiPartitionKey:
    """The partition key of a domain and an assistant."""
    return dg.MultiPartitionKey({"domain": domain, "assistant": assistant})


def parts(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> tuple[str, str]:
    """The domain and the assistant of a run's partition; the assistant is empty where there is none."""
    key = context.partition_key
    if isinstance(key, dg.MultiPartitionKey):
        return key.keys_by_dimension["domain"], key.keys_by_dimension["assistant"]
    return key, ""


def place(domain: str, assistant: str = "") -> str:
    """The lake's name of a partition: `amemgym_demo`, or `amemgym_demo/full`."""
    return f"{domain}/{assistant}" if assistant else domain
