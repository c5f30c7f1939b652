"""The code location. Read top to bottom, it is the walk: raw, states, utterances, questions, feedback, memories,
answers, scores; then what watches over it and what sets it going.

Only here are resources built and the environment read (through the settings). An asset's work is in memflow/.
"""

from typing import Any

import dagster as dg

from assets import (
    answers,
    automation,
    checks,
    feedback,
    jobs,
    memories,
    models,
    questions,
    raw,
    schedules,
    scores,
    states,
    utterances,
)
from assets.fingerprints import Fingerprints
from assets.partitions import Partitions
from resources import settings as settings_file
from resources.lance import LanceIndex
from resources.ledger import SqlLedger
from resources.models import Models
from resources.settings import Settings
from resources.warehouse import Warehouse


def build_resources(
    settings: Settings, budget: Any = None, recipes: Fingerprints | None = None
) -> dict[str, Any]:
    """The resources of the settings, by name; those of `recipes` where they are built already."""
    recipes = recipes or Fingerprints.of(settings)
    settings.home.mkdir(parents=True, exist_ok=True)
    return {
        "lake": recipes.lake,
        "warehouse": Warehouse(recipes.lake, settings.warehouse_path),
        "index": LanceIndex(str(settings.home / "lance")),
        "library": recipes.library,
        "models": Models(settings, SqlLedger(settings.ledger_url), budget),
        "recipes": recipes,
    }


def build_defs(settings: Settings, resources: dict[str, Any] | None = None) -> dg.Definitions:
    """The definitions of the settings. `resources` are the resources, where they are not those of the settings."""
    resources = resources or build_resources(settings)
    partitions = Partitions.of(settings)
    return dg.Definitions(
        assets=[
            *observed(partitions, settings, resources["recipes"]),
            *raw.build(partitions),
            *states.build(partitions, settings),
            *utterances.build(partitions, settings),
            *questions.build(partitions, settings),
            *feedback.build(partitions, settings),
            *memories.build(partitions, settings),
            *answers.build(partitions, settings),
            *scores.build(partitions, settings),
        ],
        asset_checks=checks.build(partitions, settings),
        jobs=jobs.build(),
        schedules=schedules.build(partitions),
        sensors=[automation.regeneration(settings.sensor_seconds)],
        resources={name: _described(name, hand) for name, hand in resources.items()},
        # A step costs seconds of start-up in a process of its own, so a run is one process.
        executor=dg.in_process_executor,
    )


def observed(partitions: Partitions, settings: Settings, recipes: Fingerprints) -> list[dg.SourceAsset]:
    """The models, as the graph sees them."""

    def simulator(stage: str) -> dg.SourceAsset:
        return models.simulator(
            stage, lambda name: recipes.simulator(stage, settings.domain(name)), partitions.domain
        )

    return [
        *(simulator(stage) for stage in ("state", "utterance", "question", "feedback", "memory")),
        models.annotators(lambda name: recipes.annotators(settings.domain(name)), partitions.domain),
        models.judge(recipes.judge, partitions.domain),
        models.assistants(recipes.answering, partitions.assistant),
    ]


def _described(name: str, hand: Any) -> dg.ResourceDefinition:
    description = (type(hand).__doc__ or name).strip().splitlines()[0]
    return dg.ResourceDefinition(resource_fn=lambda _: hand, description=description)


@dg.definitions
def defs() -> dg.Definitions:
    """The definitions of memflow.toml."""
    return build_defs(settings_file.load())
