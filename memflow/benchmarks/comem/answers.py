"""Output types of CoMem's prompts: bounded, so that a server can hold a model to them."""

from memflow.benchmarks.choices import Choice

__all__ = ["Choice"]
