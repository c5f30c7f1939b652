"""MemoryAgentBench (arXiv 2507.05257): a long text is given in chunks, and then many questions about it are asked.

FactConsolidation asks which of two contradicting facts came last. RULER, EventQA, in-context learning, DetectiveQA and
the recommendation of ReDial need no judge either; the questions of LongMemEval and the summaries of InfBench do.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="memoryagentbench",
    title="MemoryAgentBench",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:MemoryAgentBench",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    paper=__name__,
    protocol=f"{__name__}.protocol:PROTOCOL",
    unit="texts",
)
