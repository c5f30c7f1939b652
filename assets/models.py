"""The models as observable source assets; the data version is the model's fingerprint.

Each asset has one partition per domain or per assistant, so that a change marks only assets that use the model as
stale. fingerprints.py computes the fingerprints; jobs.py observes the models.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from memflow.assets.fingerprints import Fingerprints
from memflow.assets.partitions import Partitions
from memflow.errors import BadSettings
from memflow.pipeline import STEPS
from memflow.resources.settings.settings import Settings

GROUP = "model"
ASSISTANTS = ("model", "assistants")

UNUSED = "no model"
"""The data version where no model is used. It never changes."""

Fingerprint = Callable[[str], str | None]
"""Maps a partition key to the fingerprint of its model (name, revision, sampling, prompts); None without a model."""


def models_by_domain(
    settings: Settings, fingerprints: Fingerprints
) -> dict[tuple[str, str], tuple[str, Fingerprint]]:
    """Return the models that are observed by domain: (description, fingerprint by domain name) by asset key."""

    def simulator(stage: str, name: str) -> str | None:
        return fingerprints.simulator(stage, settings.domain(name))

    stages = dict.fromkeys(step.stage for step in STEPS if "simulator" in step.models)
    return {
        **{
            ("simulator", stage): (f"The simulator in stage {stage} of a domain.", partial(simulator, stage))
            for stage in stages
        },
        ("model", "annotators"): (
            "The two chat models that annotate the gold labels of a domain.",
            lambda name: fingerprints.annotators(settings.domain(name)),
        ),
        ("model", "judge"): (
            "The chat model that scores a domain's replies.",
            lambda name: fingerprints.judge(settings.domain(name)),
        ),
    }


def build(partitions: Partitions, settings: Settings, fingerprints: Fingerprints) -> list[dg.SourceAsset]:
    """Return the models as assets: by domain, and `model/assistants` (a memory and its chat model) by assistant."""
    by_domain = models_by_domain(settings, fingerprints)
    return [
        *(observed(key, version, partitions.domain, what) for key, (what, version) in by_domain.items()),
        observed(
            ASSISTANTS,
            fingerprints.answering,
            partitions.assistant,
            "A memory, and the model that answers.",
        ),
    ]


def observations(
    settings: Settings, fingerprints: Fingerprints, domains: Iterable[str], assistants: Iterable[str]
) -> Iterator[dg.AssetObservation]:
    """Yield an observation of each model that these domains and assistants use, as the jobs observe it.

    `memflow run` reports them, so that the sensor compares a later model with the one that was used.
    """
    by_domain = models_by_domain(settings, fingerprints)
    used = [(key, name, version(name)) for name in domains for key, (_, version) in by_domain.items()]
    used += [(ASSISTANTS, name, fingerprints.answering(name)) for name in assistants]
    for key, name, version in used:
        if version is not None:
            yield dg.AssetObservation([*key], partition=name, tags={DATA_VERSION_TAG: version})


def observed(
    key: tuple[str, str], fingerprint: Fingerprint, partitions: dg.PartitionsDefinition, what: str
) -> dg.SourceAsset:
    """Return the asset of a model, whose fingerprint by partition is None where no model is called."""

    @dg.observable_source_asset(
        key=[*key],
        partitions_def=partitions,
        group_name=GROUP,
        description=(
            f"{what} The data version of a partition is the fingerprint of its model, or `{UNUSED}`. "
            "One observation covers every partition."
        ),
    )
    def observe(context: dg.OpExecutionContext) -> dg.DataVersionsByPartition:
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

    return observe
