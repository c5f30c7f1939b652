"""What the stages of a MemoryBench run pay for, and how to reduce it, for `memflow plan`."""

from collections.abc import Mapping

from memflow.benchmarks.costs import CostPart
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of

_SHARED = "Feedback is paid once for all memories."
_FEEDBACK = {
    "off_policy": CostPart(
        "dialogues about training cases, which every memory receives before its questions",
        f"Reduce --limit, or `context_tokens`, the length of the excerpts of a corpus. {_SHARED}",
    ),
    "stepwise": CostPart(
        "dialogues about training cases, which every memory receives step by step, so no sample can leave them out",
        "Reduce --limit, or use the domain without _stepwise, whose samples leave out dialogues about a corpus. "
        f"{_SHARED}",
    ),
    "training": CostPart(
        "dialogues about training cases, which are the questions of this protocol",
        f"Reduce --limit. {_SHARED}",
    ),
    "same": CostPart(
        "dialogues about training cases, which are the questions of this protocol",
        f"Reduce --limit. {_SHARED}",
    ),
}


def cost_parts(domain: Domain) -> Mapping[str, CostPart]:
    """Return the purpose of the stages whose cost depends on the domain's protocol."""
    parameters = parameters_of(domain)
    if parameters.protocol == "on_policy":
        dialogues = CostPart(
            f"training dialogues that each assistant leads itself: up to {parameters.steps} steps of "
            f"{parameters.batch} dialogues for every memory",
            "Set smaller `steps` or `batch` in a domain of your own, or use the domain without _onpolicy, in which all "
            "memories share the dialogues of one backbone.",
        )
        return {"memory": dialogues, "answer": _checkpoints("steps")}
    parts = {"feedback": _FEEDBACK[parameters.protocol]}
    if parameters.learn_from != "dialogues":
        parts["feedback"] = CostPart(
            "dialogues about all cases that are no test cases, of which memories learn the "
            f"{parameters.learn_from} ones, so no sample can leave them out",
            f"Use the domain without _{parameters.learn_from}, which has fewer training cases. {_SHARED}",
        )
    if parameters.protocol == "stepwise":
        parts["answer"] = _checkpoints("batch")
    return parts


def _checkpoints(parameter: str) -> CostPart:
    smaller = "smaller" if parameter == "steps" else "larger"
    return CostPart(
        "answers to every test question at every checkpoint",
        f"Set a {smaller} `{parameter}` in a domain of your own for fewer checkpoints, or choose fewer memories.",
    )
