"""AMemGym (ICLR 2026): a benchmark in which users tell an assistant about personal states that change over time.

The simulator generates the users (`amemgym_demo`), or the published file contains them (`amemgym_base`). Off-policy
domains read the dialogues from a recorded run.
"""

from memflow.benchmarks.amemgym.datasets import DATASETS
from memflow.benchmarks.amemgym.domains import DOMAINS
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="amemgym",
    title="AMemGym",
    domains=DOMAINS,
    datasets=DATASETS,
    implementation=f"{__name__}.benchmark:AMemGym",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    imports=f"{__name__}.views:IMPORTS",
    annotation=f"{__name__}.annotation:KINDS",
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="users",
    demo="amemgym_demo",
)
