"""Stage `answer`: the replies to the probes, one domain and assistant per partition."""

import dagster as dg

from memflow.assets.automation import when_inputs_settle
from memflow.assets.step_assets import StepAssets, upstream_of


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the asset answer/replies."""
    condition = when_inputs_settle(upstream_of("answer.replies"))
    return [factory.of_partitions("answer.replies", condition)]
