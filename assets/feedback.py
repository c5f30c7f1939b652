"""Stage `feedback`: simulated feedback on the answers to training cases, one domain per partition."""

import dagster as dg

from memflow.assets.automation import when_models_change
from memflow.assets.step_assets import StepAssets


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the asset feedback/sessions."""
    return [factory.of_partitions("feedback.sessions", when_models_change)]
