"""MemoryBench (arXiv 2510.17281): a benchmark of how assistants learn from user feedback over time.

A backbone answers training cases and simulated users give feedback. These dialogues are written to memory, together
with a corpus if the data set has one. Then test cases are asked. The parameter `protocol` selects off-policy, stepwise
or on-policy learning.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="memorybench",
    title="MemoryBench",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:MemoryBench",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    exports=f"{__name__}.views:EXPORTS",
    annotation=f"{__name__}.annotation:KINDS",
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="test questions",
    demo="memorybench_demo",
)
