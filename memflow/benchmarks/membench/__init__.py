"""MemBench (ACL Findings 2025, arXiv 2506.21605): a benchmark of factual and reflective memory.

A trajectory has one user's messages, with the assistant's replies (participation) or without (observation). A question
with four options follows. Metrics are accuracy, recall, capacity and efficiency.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="membench",
    title="MemBench",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:MemBench",
    checks=(f"{__name__}.checks:EXPECTED",),
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="trajectories",
)
