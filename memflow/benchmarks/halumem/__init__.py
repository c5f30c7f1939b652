"""HaluMem (arXiv 2511.03506): what a memory extracts from each session, how it updates, and what it answers then.

Verdicts are on operations: a judge sees what the writes of a session added, what is recalled for the text of an
updated fact, and the answer to each question right after its session. Data and toolkit are CC BY-NC-ND 4.0: memflow
ships neither, and its sample is of its own writing.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="halumem",
    title="HaluMem",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:HaluMem",
    imports=f"{__name__}.views:IMPORTS",
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="users",
    usual_dataset="halumem_medium_users",
)
