"""BEAM (arXiv 2510.27246): 20 questions at the end of each of 100 long conversations, of 100,000 to 10 million tokens.

Answers are judged by the items of a rubric, each in a request of its own. Events are ordered, too. The published code
has defects that change scores, so there are two judge contracts, each a metric of its own: judging.py.

conversations.py reads conversations, ordering.py scores orders of events, known_errors.yaml lists wrong gold.
"""

from memflow.benchmarks.dataset_file import load_datasets
from memflow.benchmarks.domain_file import load_domains
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="beam",
    title="BEAM",
    domains=load_domains(__name__),
    datasets=load_datasets(__name__),
    implementation=f"{__name__}.benchmark:Beam",
    checks=(f"{__name__}.checks:EXPECTED",),
    protocol=f"{__name__}.protocol:PROTOCOL",
    paper=__name__,
    unit="conversations",
    usual_dataset="beam_100k",
)
