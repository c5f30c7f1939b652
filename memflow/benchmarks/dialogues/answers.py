"""Output types of the prompts. Answers to open questions are free text."""

from memflow.benchmarks.models import StrictModel
from memflow.benchmarks.multiple_choice import Choice

__all__ = ["Choice", "Judged"]


class Judged(StrictModel):
    """Whether an answer is correct."""

    correct: bool
