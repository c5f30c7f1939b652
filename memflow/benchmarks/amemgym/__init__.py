"""AMemGym (ICLR 2026): a benchmark in which users tell an assistant about personal states that change over time.

The simulator generates the users (`amemgym_demo`), or the published file contains them (`amemgym_base`). Off-policy
domains read the dialogues from a recorded run.
"""

from dataclasses import replace

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.domains import RoleDecoding
from memflow.benchmarks.spec import BenchmarkSpec

_DECODING = {"assistant": RoleDecoding(output=8192)}
"""The paper's bound on all answers (section 4.1), choices included. Under profile `memflow` a choice has its own."""
SPEC = BenchmarkSpec(
    name="amemgym",
    title="AMemGym",
    domains=tuple(replace(domain, decoding=_DECODING) for domain in load_domains(__name__)),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:AMemGym",
    checks=(f"{__name__}.checks:EXPECTED",),
    imports=f"{__name__}.views:IMPORTS",
    annotation=f"{__name__}.annotation:KINDS",
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="users",
    demo="amemgym_demo",
)
