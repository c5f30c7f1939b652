"""LongMemEval's domains: one for each published file, and the sample that ships with memflow."""

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.datasets import DATASETS, ORACLE, SAMPLE, M, S

_TITLES = {
    SAMPLE.name: "LongMemEval: seven questions of our own, for trials",
    ORACLE.name: "LongMemEval, histories of the evidence sessions only",
    S.name: "LongMemEval S: about 48 sessions and 115,000 tokens a question",
    M.name: "LongMemEval M: about 500 sessions and 1.5 million tokens a question",
}
DOMAINS = tuple(
    Domain(dataset.name, "longmemeval", (dataset.name,), _TITLES[dataset.name], listed=False)
    for dataset in DATASETS
)
