"""Stage `utterance`: the messages of each episode, one domain per partition."""

import dagster as dg

from memflow.assets.automation import when_models_change
from memflow.assets.step_assets import StepAssets


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the asset utterance/turns."""
    return [factory.of_partitions("utterance.turns", when_models_change)]
