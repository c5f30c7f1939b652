"""The words from which users, facts and messages are drawn, a file for each language."""

from memflow.benchmarks.datasets import Dataset

WORDS = Dataset(
    "retraction_words",
    "Words of our own writing, in English and Chinese, from which facts and messages are drawn",
    "retraction",
    tuple(f"benchmarks/retraction/sample/words_{language}.yaml" for language in ("en", "zh")),
    "Apache-2.0",
    "memflow",
    "It ships with memflow.",
    ships=True,
)
DATASETS = (WORDS,)
