"""LongMemEval (ICLR 2025, arXiv 2410.10813): 500 questions of six types about long histories of dated chats.

Each question is an episode of its own: its sessions are given to the memory in order of time, then it is asked. A judge
compares the reply with the gold, by a contract that depends on the question type.

load.py reads the files, judging.py has the judge contracts, retrieval.py the published retrieval metrics, index.py the
published index as a memory, known_errors.py the known errors of the data.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="longmemeval",
    title="LongMemEval",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:LongMemEval",
    checks=(f"{__name__}.checks:EXPECTED",),
    imports=f"{__name__}.views:IMPORTS",
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="questions",
    usual_dataset="longmemeval_s",
)
