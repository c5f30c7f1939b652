"""The data sets of the benchmark, which datasets.toml declares. Users add their own in memflow.toml."""

from memflow.benchmarks.dataset_file import load_datasets

DATASETS = load_datasets("memflow.benchmarks.dialogues")
