"""CoMem (ACL ARR 2026 January, submission 2305): a benchmark of how a memory's answers change while a dialogue grows.

The same questions are asked before the first message (checkpoint 0) and after each quarter of a dialogue. Gold labels
change over checkpoints, and memories forget and learn. CoMem's own data are not public: sources/ reads the data sets
that it is built from, and annotation/ creates the gold labels per checkpoint.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="comem",
    title="CoMem",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:CoMem",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="contexts",
)
