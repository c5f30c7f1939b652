"""Stage `state`: the users' structured states, one domain per partition."""

import dagster as dg

from memflow.assets.automation import when_models_change
from memflow.assets.step_assets import StepAssets


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the assets of the states: profiles, variables, changes and entities."""
    return [factory.of_partitions("state.profiles", when_models_change)]
