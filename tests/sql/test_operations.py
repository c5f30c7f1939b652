"""The query `operations`: time and calls of writes and reads, summed by assistant and episode."""

from dataclasses import replace

import factories

from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse
from memflow.scoring.efficiency import OperationSums

LINE = factories.transcript_message(
    assistant="rag", episode_id="e", message_id="m0", text="hello", origin="given",
)  # fmt: skip
PROBE = factories.probe(probe_id="p0", episode_id="e")
REPLY = factories.reply(
    assistant="rag", probe_id="p0", episode_id="e", models_s=0.5, own_s=0.25, model_calls=2,
)  # fmt: skip


def test_operations_query_sums_time_and_calls_by_assistant_and_episode(tmp_path) -> None:
    lake = Lake(tmp_path / "lake")
    said = [
        LINE,  # written with the next one, which has what both took
        replace(LINE, message_id="m1", models_s=1.0, own_s=0.125, model_calls=3),
        replace(LINE, message_id="m2", models_s=0.0, own_s=0.125, model_calls=0),
        replace(LINE, message_id="m3", reason="no answer"),
        replace(LINE, episode_id="f", message_id="m4", models_s=2.0, own_s=1.0, model_calls=1),
    ]
    probes = [
        PROBE,
        replace(PROBE, probe_id="p1"),
        replace(PROBE, probe_id="p2", reason="two options are the same"),
        replace(PROBE, probe_id="p3", episode_id="g"),
    ]
    failed = {"models_s": None, "own_s": None, "model_calls": None}
    replies = [
        REPLY,
        replace(REPLY, probe_id="p1", reason="recall for p1: RecallFailed", **failed),
        replace(REPLY, probe_id="p2", reason="the probe is quarantined", **failed),
        replace(REPLY, probe_id="p3", episode_id="g"),
    ]
    lake.write("question.probes", "d", probes, fingerprint="")
    lake.write("memory.transcripts", "d/rag", said, fingerprint="")
    lake.write("answer.replies", "d/rag", replies, fingerprint="")
    lake.write(
        "answer.replies",
        "d/none",
        [replace(REPLY, assistant="none", models_s=0.0, own_s=0.0)],
        fingerprint="",
    )
    lake.write("memory.transcripts", "other/rag", [replace(said[1], domain="other")], fingerprint="")
    rows = Warehouse(lake, tmp_path / "memflow.duckdb").query("operations", domain="d")
    assert [OperationSums(**row) for row in rows] == [
        OperationSums(assistant="none", episode_id="e", asked=1, reads=1, read_calls=2),
        OperationSums(
            assistant="rag", episode_id="e", writes=2, write_models_s=1.0, write_own_s=0.25, write_calls=3,
            asked=2, reads=1, read_models_s=0.5, read_own_s=0.25, read_calls=2,
        ),
        OperationSums(assistant="rag", episode_id="f", writes=1, write_models_s=2.0, write_own_s=1.0, write_calls=1),
        OperationSums(
            assistant="rag", episode_id="g", asked=1, reads=1, read_models_s=0.5, read_own_s=0.25, read_calls=2
        ),
    ]  # fmt: skip
