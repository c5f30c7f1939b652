"""The models as observable source assets; the data version is the model's fingerprint.

Each asset has one partition per domain or per assistant, so that a change marks only assets that use the model as
stale. fingerprints.py computes the fingerprints; jobs.py observes the models.
"""

from collections.abc import Callable

import dagster as dg

from memflow.errors import BadSettings

GROUP = "model"

UNUSED = "no model"
"""The data version where no model is used. It never changes."""

Fingerprint = Callable[[str], str | None]
"""Maps a partition key to the fingerprint of its model (name, revision, sampling, prompts); None without a model."""


def simulator(stage: str, fingerprint: Fingerprint, domain: dg.PartitionsDefinition) -> dg.SourceAsset:
    """Return the assets `simulator/STAGE`, by domain; the fingerprint is None if the stage calls no simulator."""
    return _observed(
        ["simulator", stage], fingerprint, domain, f"The simulator in stage {stage} of a domain."
    )


def judge(fingerprint: Fingerprint, domain: dg.PartitionsDefinition) -> dg.SourceAsset:
    """Return the asset `model/judge`, by domain; the fingerprint is None if the domain's metrics call no judge."""
    return _observed(
        ["model", "judge"], fingerprint, domain, "The chat model that scores a domain's replies."
    )


def annotators(fingerprint: Fingerprint, domain: dg.PartitionsDefinition) -> dg.SourceAsset:
    """Return the asset `model/annotators`, by domain; the fingerprint is None if the gold labels call no model."""
    return _observed(
        ["model", "annotators"],
        fingerprint,
        domain,
        "The two chat models that annotate the gold labels of a domain.",
    )


def assistants(fingerprint: Fingerprint, assistant: dg.PartitionsDefinition) -> dg.SourceAsset:
    """Return the asset `model/assistants`, by assistant; the fingerprint covers the memory and its chat model."""
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
            "One observation covers every partition."
        ),
    )
    def observed(context: dg.OpExecutionContext) -> dg.DataVersionsByPartition:
        versions = {}
        for name in partitions.get_partition_keys():
            try:
                versions[name] = fingerprint(name) or UNUSED
            except BadSettings as wrong:  # a broken one does not hide the others
                context.log.error(f"cannot observe {'/'.join(key)} of {name}: {wrong}")
            else:
                context.log.info(f"{'/'.join(key)} {name}: {versions[name]}")
        return dg.DataVersionsByPartition(
            {name: dg.DataVersion(version) for name, version in versions.items()}
        )

    return observed
