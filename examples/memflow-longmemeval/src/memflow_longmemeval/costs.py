"""What the stages of LongMemEval pay for, for `memflow plan`."""

from collections.abc import Mapping

from memflow.benchmarks.costs import CostPart

COST_PARTS: Mapping[str, CostPart] = {
    "memory": CostPart(
        "building one memory for each question from its whole history (57 M tokens for all of S, if a model reads it)",
        "Reduce --limit: a sample keeps the shares of question types. Begin with longmemeval_oracle, whose histories "
        "have the evidence sessions only.",
    ),
    "answer": CostPart(
        "one answer to each question, with the recalled part of its history in the prompt",
        "Reduce k or the budget of the memories, or --limit. The memory full sends whole histories.",
    ),
}
