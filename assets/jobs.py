"""Jobs: one per partition shape, since a job's assets share one shape. Jobs are verbs; assets are nouns."""

import dagster as dg

OBSERVE = "observe_models"


def build() -> list[dg.UnresolvedAssetJobDefinition]:
    """The jobs, in the order in which a whole run needs them."""
    groups = dg.AssetSelection.groups
    return [
        dg.define_asset_job(
            "read_datasets", groups("raw"), description="Read published files, a data set a partition."
        ),
        dg.define_asset_job(
            "build_users",
            groups("state", "utterance", "question", "feedback"),
            description="States, utterances, probes and feedback, a domain a partition.",
        ),
        dg.define_asset_job(
            "measure_memories",
            groups("memory", "answer") | dg.AssetSelection.assets(["score", "verdicts"]),
            description="Play, ask and score, a domain and an assistant a partition.",
        ),
        dg.define_asset_job(
            "publish_scores",
            dg.AssetSelection.assets(["score", "leaderboard"]),
            description="The leaderboard over everything that was measured, and memflow.duckdb.",
        ),
        dg.define_asset_job(
            OBSERVE,
            groups("model", include_sources=True),
            description="Look at the fingerprints of simulator, judge and assistants.",
        ),
    ]
