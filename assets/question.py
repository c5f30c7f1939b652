"""Stage `question`: the gold labels per checkpoint and the probes, one domain per partition.

The probes state which data of their domain is missing.
"""

from collections.abc import Iterable
from typing import Any

import dagster as dg

from memflow.assets.automation import when_models_change
from memflow.assets.step_assets import PartitionRun, StepAssets
from memflow.resources.publishing.completeness import all_gaps, domain_gaps
from memflow.scoring.completeness import gap_meta

PROBES = "question.probes"


def build(factory: StepAssets) -> list[dg.AssetsDefinition]:
    """Return the assets question/keys and question/probes."""
    return [
        factory.of_partitions("question.keys", when_models_change),
        factory.of_partitions(PROBES, when_models_change, stored=stored_gaps, shown=shown_gaps),
    ]


def stored_gaps(run: PartitionRun, table: str, rows: Iterable[Any]) -> dict[str, str]:
    """Return what the tables that the probes are built from lack, as `incomplete`; empty if nothing is missing."""
    return gap_meta(domain_gaps(run.domain, run.lake, run.data))


def shown_gaps(run: PartitionRun, table: str) -> dict[str, str]:
    """Return what the domain lacks, with quarantined probes, as `incomplete`; empty if nothing is missing."""
    return gap_meta(all_gaps(run.lake.intact_facts(table, run.key), None))
