"""The code location `memflow`: assets, checks, jobs, schedules, the sensor and the resources of the settings.

The order of the pipeline is memflow/pipeline.py. Only here are resources built.
"""

from typing import Any

import dagster as dg

from assets import assets, automation, checks, jobs, models
from assets.fingerprints import Fingerprints
from assets.partitions import Partitions
from memflow.pipeline import STEPS
from resources import settings as settings_file
from resources.lance import LanceIndex
from resources.ledger import SqlLedger
from resources.models import Models
from resources.settings import Settings
from resources.warehouse import Warehouse


def build_resources(
    settings: Settings, budget: Any = None, fingerprints: Fingerprints | None = None
) -> dict[str, Any]:
    """The resources of the settings, by name; those of `fingerprints` where they are built already."""
    fingerprints = fingerprints or Fingerprints.of(settings)
    settings.home.mkdir(parents=True, exist_ok=True)
    return {
        "lake": fingerprints.lake,
        "warehouse": Warehouse(fingerprints.lake, settings.warehouse_path),
        "index": LanceIndex(str(settings.home / "lance")),
        "library": fingerprints.library,
        "models": Models(settings, SqlLedger(settings.ledger_url), budget),
        "fingerprints": fingerprints,
    }


def build_defs(settings: Settings, resources: dict[str, Any] | None = None) -> dg.Definitions:
    """The definitions of the settings. `resources` are the resources, where they are not those of the settings."""
    resources = resources or build_resources(settings)
    partitions = Partitions.of(settings)
    return dg.Definitions(
        assets=[
            *observed(partitions, settings, resources["fingerprints"]),
            *assets.build(partitions, settings),
        ],
        asset_checks=checks.build(partitions, settings),
        jobs=jobs.build(),
        schedules=jobs.schedules(partitions),
        sensors=[automation.regeneration(settings.sensor_seconds)],
        resources={name: _described(name, hand) for name, hand in resources.items()},
        # A step costs seconds of start-up in a process of its own, so a run is one process.
        executor=dg.in_process_executor,
    )


def observed(partitions: Partitions, settings: Settings, fingerprints: Fingerprints) -> list[dg.SourceAsset]:
    """The models, as the graph sees them."""

    def simulator(stage: str) -> dg.SourceAsset:
        return models.simulator(
            stage, lambda name: fingerprints.simulator(stage, settings.domain(name)), partitions.domain
        )

    stages = dict.fromkeys(step.stage for step in STEPS if "simulator" in step.models)
    return [
        *(simulator(stage) for stage in stages),
        models.annotators(lambda name: fingerprints.annotators(settings.domain(name)), partitions.domain),
        models.judge(lambda name: fingerprints.judge(settings.domain(name)), partitions.domain),
        models.assistants(fingerprints.answering, partitions.assistant),
    ]


def _described(name: str, hand: Any) -> dg.ResourceDefinition:
    description = (type(hand).__doc__ or name).strip().splitlines()[0]
    return dg.ResourceDefinition(resource_fn=lambda _: hand, description=description)


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of memflow.toml."""
    return build_defs(settings_file.load())
