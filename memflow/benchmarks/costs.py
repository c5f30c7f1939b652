"""What the requests of a stage are for, and how to reduce their number or length, for `memflow plan`."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CostPart:
    """The purpose of a stage's requests, and how a user can reduce them."""

    purpose: str
    """A noun phrase, without a period."""
    reduction: str
    """One or more sentences."""


GENERATED = "Reduce --limit. Generated rows are paid once for all memories, and replayed from the ledger in later runs."
STAGES: Mapping[str, CostPart] = {
    "state": CostPart("the states of generated users", GENERATED),
    "utterance": CostPart("the messages of generated users", GENERATED),
    "question": CostPart("questions and their gold labels", GENERATED),
    "feedback": CostPart("simulated feedback", GENERATED),
    "memory": CostPart(
        "playing the dialogues and building the memories, once for each memory",
        "Choose fewer memories (--memory), or reduce --limit.",
    ),
    "answer": CostPart(
        "answers to the questions",
        "Choose fewer memories (--memory; --no-bounds leaves out the bounds none and oracle), or reduce --limit.",
    ),
    "score": CostPart(
        "judge requests for every answer",
        "Choose fewer judges ([roles] judge) or memories, or reduce --limit.",
    ),
}
"""The purpose of each stage where a benchmark gives none of its own (`Benchmark.cost_parts`)."""
