"""A benchmark of the user's own dialogues with questions, from JSONL, CSV or Parquet files.

schema.py declares the fields of the files; files.py reads them; dialogues.py joins and validates the rows.
chat_exports/ converts chats that assistants export. docs/how-to/data.md describes the format for users.
"""

from memflow.benchmarks.dialogues.datasets import DATASETS
from memflow.benchmarks.dialogues.domains import DOMAINS
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="dialogues",
    title="Own dialogues",
    domains=DOMAINS,
    datasets=DATASETS,
    implementation=f"{__name__}.benchmark:Dialogues",
    checks=(f"{__name__}.checks:EXPECTED",),
    own_files=f"{__name__}.inspection:OWN_FILES",
    conversions=f"{__name__}.chat_exports.command:CONVERSIONS",
    unit="dialogues",
    retrieval_demo="dialogues_retrieval",
)
