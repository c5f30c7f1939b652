"""Storage of imported results: partitions of the lake, and materializations in Dagster's event log.

The benchmark reads the results (`memflow.benchmarks.views.Import`). No run of memflow updates these partitions.
"""

import json
from collections.abc import Sequence
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from memflow.assets.fingerprints import NO_SIMULATOR
from memflow.assets.partitions import pair
from memflow.benchmarks.views import ImportedResults
from memflow.errors import BadInput
from memflow.pipeline import partition_key
from memflow.resources.instance.instance import open_instance
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings
from memflow.run.recording import IMPORTED, SCRIPTED
from memflow.scoring.completeness import gap_meta, quarantine_gap
from memflow.scoring.judges import JUDGES


def store_results(settings: Settings, domain: str, results: ImportedResults) -> None:
    """Write imported replies and verdicts, and report both to Dagster.

    Raises BadInput if the partition has results of a run of memflow.
    """
    lake, key = Lake(settings.lake_root), partition_key(domain, results.assistant)
    former, probes = lake.facts("score.verdicts", key), lake.facts("question.probes", domain)
    if former is not None and IMPORTED not in former.meta:
        raise BadInput(f"{key} has results of a memflow run, not of an import. Import into another domain.")
    assert probes is not None
    meta = {
        IMPORTED: results.source,
        "settings": json.dumps(results.settings),
        "model": results.model,
        "simulator": NO_SIMULATOR,
        SCRIPTED: "yes" if results.scripted else "no",
        "probes": probes.digest,
    }
    if judges := results.settings.get("judges"):
        meta[JUDGES] = "\n".join(judges)
    if results.replaced_prompts:
        meta["replaced_prompts"] = " ".join(results.replaced_prompts)
    missing = sum(reply.reason is not None for reply in results.replies)
    meta |= gap_meta(quarantine_gap(missing, len(results.replies), "replies", "missing"))
    # What the memory held is not recorded; rules about replies and commands read these tables.
    unknown: dict[str, Sequence[Any]] = {"memory.transcripts": (), "memory.indexes": ()}
    tables = {**unknown, "answer.replies": results.replies, "score.verdicts": results.verdicts}
    if results.attributions or lake.facts("score.attributions", key) is not None:
        tables["score.attributions"] = results.attributions
    written = {
        table: lake.write(table, key, rows, fingerprint=results.source, meta=meta)
        for table, rows in tables.items()
    }
    with open_instance(settings.home) as opened:
        for table, facts in written.items():
            opened.instance.report_runless_asset_event(
                dg.AssetMaterialization(
                    table.split("."),
                    description=f"imported: {results.source}",
                    partition=pair(domain, results.assistant),
                    metadata={"dagster/partition_row_count": facts.rows, **meta},
                    tags={DATA_VERSION_TAG: facts.digest},
                )
            )
