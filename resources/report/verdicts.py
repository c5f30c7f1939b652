"""The data file `verdicts/DOMAIN`: all verdicts of a domain as Parquet, by assistant, probe, metric and variant."""

import io
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from memflow.errors import MissingData
from memflow.pipeline import partition_key
from memflow.resources.report.source import ReportSource

SCHEMA = pa.schema(
    pa.field(name, kind, nullable=False)
    for name, kind in [
        *((name, pa.string()) for name in ("assistant", "probe", "episode")),
        ("checkpoint", pa.int32()),  # JavaScript has no plain 64-bit integers
        *((name, pa.string()) for name in ("dataset", "category", "metric", "variant")),
        ("value", pa.float64()),
        *((name, pa.string()) for name in ("reason", "failure")),
        ("cut", pa.bool_()),
    ]
)
"""No column is nullable, which makes the page four times faster: "" and NaN stand for a missing text and value."""
TABLES = ("score.verdicts", "score.attributions", "answer.replies")
"""The tables that the file is computed from."""
STORED = (
    "probe_id",
    "episode_id",
    "checkpoint",
    "dataset",
    "category",
    "metric",
    "variant",
    "value",
    "reason",
)
"""The columns of score.verdicts that the file has."""
DICTIONARY_BYTES = 64_000_000
"""Text columns stay dictionary encoded up to this size; the page reads other encodings slowly."""
FAILURES = ("write", "read", "utilization")


def verdicts_parquet(source: ReportSource, domain: str, assistants: Sequence[str]) -> bytes:
    """Return the verdicts of a domain as a Parquet file.

    `failure` is the failure with the largest part of the probe's loss; `cut` is whether the reply was cut.
    """
    tables = [_assistant_verdicts(source, domain, name) for name in assistants]
    file = io.BytesIO()
    pq.write_table(
        pa.concat_tables(tables) if tables else SCHEMA.empty_table(),
        file,
        compression="zstd",
        row_group_size=1_000_000,
        dictionary_pagesize_limit=DICTIONARY_BYTES,
        store_schema=False,
        write_statistics=False,
    )
    return file.getvalue()


def _assistant_verdicts(source: ReportSource, domain: str, assistant: str) -> pa.Table:
    partition = partition_key(domain, assistant)
    failures = _failures(source, partition)
    cut = {
        probe: is_cut
        for probe, is_cut in source.lake.columns("answer.replies", partition, ("probe_id", "cut"))
        if is_cut
    }
    batches = []
    for batch in source.lake.batches("score.verdicts", partition, STORED):
        probes = batch.column("probe_id").to_pylist()
        reasons = batch.column("reason")
        if reasons.null_count < batch.num_rows:
            reasons = pa.array(map(source.redaction.reason, reasons.to_pylist()), pa.string())
        columns = [
            pa.array([source.named(assistant)] * batch.num_rows, pa.string()),
            batch.column("probe_id"),
            batch.column("episode_id"),
            batch.column("checkpoint").cast(pa.int32()),
            *(batch.column(name).fill_null("") for name in ("dataset", "category", "metric", "variant")),
            batch.column("value").fill_null(float("nan")),
            reasons.cast(pa.string()).fill_null(""),
            pa.array([failures.get(probe, "") for probe in probes], pa.string()),
            pa.array([probe in cut for probe in probes], pa.bool_()),
        ]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=SCHEMA))
    return pa.Table.from_batches(batches, SCHEMA)


def _failures(source: ReportSource, partition: str) -> dict[str, str]:
    """Return the failure with the largest part of the loss, by probe."""
    found = {}
    try:
        rows = [*source.lake.columns("score.attributions", partition, ("probe_id", *FAILURES))]
    except MissingData:
        return {}
    for probe, *parts in rows:
        losses = [part or 0.0 for part in parts]
        if (largest := max(losses)) > 0:
            found[probe] = FAILURES[losses.index(largest)]
    return found
