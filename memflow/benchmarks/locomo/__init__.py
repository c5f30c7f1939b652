"""LoCoMo (ACL 2024) with the LLM judge score J that memory vendors publish: questions about long conversations.

The benchmark is part of memflow and not a package of its own: it reads LoCoMo's file with MemoryBench's reader, scores
with MemoryBench's implementation of LoCoMo's F1, and imports results that vendors publish. MemoryBench samples 25
questions of each conversation and scores no J; this benchmark asks all questions of the categories that J counts.

judging.py has the judge contracts, known_errors.py the known errors of the answer key, results_import.py the import.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="locomo",
    title="LoCoMo with J",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:LoCoMo",
    checks=(f"{__name__}.checks:EXPECTED",),
    imports=f"{__name__}.views:IMPORTS",
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="conversations",
)
