"""Retraction: what users correct, update, take back, restrict and tell again, and what others contradict.

Users, their facts and their messages are generated from lists of words, in English and Chinese. A plan says what
happens to each fact. The examiner (examination.py) recomputes every gold from the messages alone.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="retraction",
    title="Retraction",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:Retraction",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    unit="users",
)
