"""Jobs: one per partition shape, since a job's assets share one shape. Jobs are verbs; assets are nouns."""

from typing import Any

import dagster as dg

from assets.automation import MODELS

ASSISTANTS = dg.AssetSelection.assets(["model", "assistants"])
OBSERVE = ("observe_simulator", "observe_assistants")
"""The jobs that look at the models: by domain, and by assistant."""


def build() -> list[Any]:
    """The jobs, in the order in which a whole run needs them."""
    groups = dg.AssetSelection.groups
    return [
        dg.define_asset_job(
            "ingest_datasets", groups("raw"), description="Read published files, a data set a partition."
        ),
        dg.define_asset_job(
            "generate_domain",
            groups("state", "utterance", "question", "feedback"),
            description="States, utterances, probes and feedback, a domain a partition.",
        ),
        dg.define_asset_job(
            "evaluate_memory",
            groups("memory", "answer")
            | dg.AssetSelection.assets(*(["score", name] for name in ("verdicts", "attributions", "claims"))),
            description="Play, ask and score, a domain and an assistant a partition.",
        ),
        dg.define_asset_job(
            "publish_leaderboard",
            dg.AssetSelection.assets(["score", "leaderboard"]),
            description="The leaderboard over everything that was measured, and memflow.duckdb.",
        ),
        dg.define_asset_job(
            OBSERVE[0],
            MODELS - ASSISTANTS,
            description="Look at the fingerprints of simulator, annotators and judge. Any partition stands for all.",
        ),
        dg.define_asset_job(
            OBSERVE[1],
            ASSISTANTS,
            description="Look at the fingerprints of the assistants. Any partition stands for all of them.",
        ),
    ]
