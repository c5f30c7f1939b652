"""Results as files of other tools: records of Every Eval Ever, and logs of Inspect."""

from collections.abc import Sequence
from pathlib import Path

from memflow.errors import BadInput
from memflow.operations.every_eval_ever import write_records
from memflow.operations.exported_results import UNKNOWN, ExportedResults
from memflow.operations.inspect_logs import write_inspect_log


def write_results(
    form: str,
    results: Sequence[ExportedResults],
    folder: Path,
    organization: str = UNKNOWN,
    *,
    samples: bool = True,
) -> list[Path]:
    """Write results as records of Every Eval Ever (`eee`) or logs of Inspect (`inspect`). Return the paths."""
    if form == "inspect":
        return [write_inspect_log(row, folder) for row in results]
    if form != "eee":
        raise BadInput(f"unknown format {form!r}. Use eee, inspect, csv, markdown or latex.")
    return [path for row in results for path in write_records(row, folder, organization, samples=samples)]
