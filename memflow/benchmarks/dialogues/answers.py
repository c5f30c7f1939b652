"""Output types of the prompts. Answers to open questions are free text."""

from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.multiple_choice import Choice

__all__ = ["Choice", "Judged"]


class Judged(BaseModel):
    """Whether an answer is correct."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    correct: bool
