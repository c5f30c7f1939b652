"""A benchmark of the user's own dialogues with questions, from JSONL or CSV files.

schema.py declares the fields of the files; files.py reads them; dialogues.py joins and validates the rows.
chat_exports/ converts chats that assistants export. docs/how-to/data.md describes the format for users.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="dialogues",
    title="Own dialogues",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:Dialogues",
    checks=(f"{__name__}.checks:EXPECTED",),
    own_files=f"{__name__}.inspection:OWN_FILES",
    conversions=f"{__name__}.chat_exports.command:CONVERSIONS",
    unit="dialogues",
    retrieval_demo="dialogues_retrieval",
)
