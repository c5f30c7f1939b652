"""The code location `memflow`: assets, checks, jobs, schedules, the sensor and the resources of the settings.

memflow/pipeline.py defines the steps in order, resources/configurable.py the resources.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from memflow.assets import (
    answer,
    automation,
    checks,
    drift,
    feedback,
    jobs,
    leaderboard,
    memory,
    models,
    question,
    raw,
    report,
    score,
    state,
    utterance,
)
from memflow.assets.fingerprints import Fingerprints
from memflow.assets.partitions import Partitions
from memflow.assets.step_assets import StepAssets
from memflow.resources.configurable import configurable_resources
from memflow.resources.runs.added_partitions import with_added_partitions
from memflow.resources.settings import settings as settings_file
from memflow.resources.settings.prompt_folders import activate_prompts
from memflow.resources.settings.settings import Settings

STAGES = (raw, state, utterance, question, feedback, memory, answer, score, leaderboard, drift, report)
"""The modules of the stages, in the order of the pipeline."""


def build_defs(
    settings: Settings,
    resource_overrides: Mapping[str, Any] | None = None,
    fingerprints: Fingerprints | None = None,
) -> dg.Definitions:
    """Return the Dagster definitions for the settings.

    `resource_overrides` replace all resources, for a process that shares one ledger and one client between its runs.
    """
    settings.home.mkdir(parents=True, exist_ok=True)
    fingerprints = fingerprints or Fingerprints.of(settings)
    partitions = Partitions.of(settings)
    factory = StepAssets(settings, partitions, fingerprints)
    return dg.Definitions(
        assets=[
            *models.build(partitions, settings, fingerprints),
            *(asset for stage in STAGES for asset in stage.build(factory)),
        ],
        asset_checks=checks.build(partitions, settings),
        jobs=jobs.build(),
        schedules=jobs.schedules(partitions),
        sensors=[automation.regeneration(settings.sensor_seconds)],
        resources=dict(resource_overrides or configurable_resources(settings)),
        # A step costs seconds of start-up in a process of its own, so a run is one process.
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the definitions for memflow.toml, with the partitions that command-line runs added."""
    settings = settings_file.load()
    activate_prompts(settings)
    return build_defs(with_added_partitions(settings))
