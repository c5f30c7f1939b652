"""LongMemEval (arXiv 2410.10813) for memflow: 500 questions of six types about long histories of dated chats.

Each question is an episode of its own: its sessions are given to the memory in order of time, then it is asked. A judge
compares the reply with the gold, by a contract that depends on the question type.
"""

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.spec import BenchmarkSpec
from memflow_longmemeval.datasets import DATASETS, ORACLE, SAMPLE, M, S

_TITLES = {
    SAMPLE.name: "LongMemEval: seven questions of our own, for trials",
    ORACLE.name: "LongMemEval, histories of the evidence sessions only",
    S.name: "LongMemEval S: about 48 sessions and 115,000 tokens a question",
    M.name: "LongMemEval M: about 500 sessions and 1.5 million tokens a question",
}
SPEC = BenchmarkSpec(
    name="longmemeval",
    title="LongMemEval",
    domains=tuple(Domain(each.name, "longmemeval", (each.name,), _TITLES[each.name]) for each in DATASETS),
    datasets=DATASETS,
    implementation=f"{__name__}.benchmark:LongMemEval",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    imports=f"{__name__}.views:IMPORTS",
    unit="questions",
)
