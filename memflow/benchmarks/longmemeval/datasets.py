"""LongMemEval's data sets, which datasets.toml declares."""

from memflow.benchmarks.dataset_file import load_datasets

DATASETS = load_datasets("memflow.benchmarks.longmemeval")
SAMPLE, ORACLE, S, M = DATASETS
