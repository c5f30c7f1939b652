"""The models as observable assets: what a model makes hangs on it in the graph, and its data version is the
model's fingerprint. Each is cut along the axis on which its users differ, so that a domain which does not use
the simulator, or an assistant with another chat model, is left alone when one of them changes.

Here is only how a fingerprint becomes a data version. Which model plays which part, and what its fingerprint
is made of, does not belong here; nor when to look (schedules), nor what follows from a change (automation).
"""

from collections.abc import Callable

import dagster as dg

from memflow.errors import BadSettings

GROUP = "model"

UNUSED = "no model"
"""The data version where no such model is used. It never changes, and so asks for nothing."""

Fingerprint = Callable[[str], str | None]
"""Partition key -> fingerprint of its model (name, revision, sampling, prompts), None where it uses none."""


def simulator(part: str, fingerprint: Fingerprint, domain: dg.PartitionsDefinition) -> dg.SourceAsset:
    """`simulator/PART` by domain: the chat model that plays users, in one of its parts (states, follow_ups).

    A domain may have its states published and still need the simulator to answer back. One asset for each
    part leaves what was only read alone when the simulator changes. The fingerprint is None for a domain in
    which the simulator has no such part.
    """
    return _observed(["simulator", part], fingerprint, domain, f"The simulator of a domain's {part}.")


def judge(fingerprint: Fingerprint, domain: dg.PartitionsDefinition) -> dg.SourceAsset:
    """`model/judge` by domain: scores its replies. None for a domain whose metrics are all computed."""
    return _observed(
        ["model", "judge"], fingerprint, domain, "The chat model that scores a domain's replies."
    )


def annotators(fingerprint: Fingerprint, domain: dg.PartitionsDefinition) -> dg.SourceAsset:
    """`model/annotators` by domain: say what is right at its checkpoints. None for a domain whose keys ask no model."""
    return _observed(
        ["model", "annotators"],
        fingerprint,
        domain,
        "The two chat models that say what is right in a domain.",
    )


def assistants(fingerprint: Fingerprint, assistant: dg.PartitionsDefinition) -> dg.SourceAsset:
    """`model/assistants` by assistant: a memory with its parameters, and the chat model that answers."""
    return _observed(["model", "assistants"], fingerprint, assistant, "A memory, and the model that answers.")


def _observed(
    key: list[str], fingerprint: Fingerprint, partitions: dg.PartitionsDefinition, what: str
) -> dg.SourceAsset:
    @dg.observable_source_asset(
        key=key,
        partitions_def=partitions,
        group_name=GROUP,
        description=(
            f"{what} The data version of a partition is the fingerprint of its model, or `{UNUSED}`. "
            "One observation covers every partition, whichever was picked."
        ),
    )
    def observed(context: dg.OpExecutionContext) -> dg.DataVersionsByPartition:
        versions = {}
        for name in partitions.get_partition_keys():
            try:
                versions[name] = fingerprint(name) or UNUSED
            except BadSettings as wrong:  # one that cannot be had keeps no other from being seen
                context.log.error(f"{'/'.join(key)} {name}: {wrong}")
            else:
                context.log.info(f"{'/'.join(key)} {name}: {versions[name]}")
        return dg.DataVersionsByPartition(
            {name: dg.DataVersion(version) for name, version in versions.items()}
        )

    return observed
