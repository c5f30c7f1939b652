"""The models as observable source assets; the data version is the model's fingerprint.

Each asset has one partition per domain or per assistant, so that a change marks only assets that use the model as
stale. fingerprints.py computes the fingerprints; jobs.py observes the models.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from assets.fingerprints import Fingerprints
from memflow.errors import BadSettings
from memflow.pipeline import STEPS
from resources.settings.settings import Settings

GROUP = "model"

UNUSED = "no model"
"""The data version where no model is used. It never changes."""

Fingerprint = Callable[[str], str | None]
"""Maps a partition key to the fingerprint of its model (name, revision, sampling, prompts); None without a model."""


def simulators(settings: Settings, fingerprints: Fingerprints) -> Mapping[str, Fingerprint]:
    """Return the fingerprint of the simulator in each stage, as a function of a domain's name."""

    def of_domain(stage: str, name: str) -> str | None:
        return fingerprints.simulator(stage, settings.domain(name))

    stages = dict.fromkeys(step.stage for step in STEPS if "simulator" in step.models)
    return {stage: partial(of_domain, stage) for stage in stages}


def observations(
    settings: Settings, fingerprints: Fingerprints, domains: Iterable[str], assistants: Iterable[str]
) -> Iterator[dg.AssetObservation]:
    """Yield an observation of each model that these domains and assistants use, as the jobs observe it.

    `memflow run` reports them, so that the sensor compares a later model with the one that was used.
    """
    by_domain: dict[tuple[str, str], Fingerprint] = {
        **{("simulator", stage): version for stage, version in simulators(settings, fingerprints).items()},
        ("model", "annotators"): lambda name: fingerprints.annotators(settings.domain(name)),
        ("model", "judge"): lambda name: fingerprints.judge(settings.domain(name)),
    }
    used = [(key, name, version(name)) for name in domains for key, version in by_domain.items()]
    used += [(("model", "assistants"), name, fingerprints.answering(name)) for name in assistants]
    for key, name, version in used:
        if version is not None:
            yield dg.AssetObservation([*key], partition=name, tags={DATA_VERSION_TAG: version})


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
