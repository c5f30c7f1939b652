"""The metrics of LongMemEval: accuracy, its mean over question types, and retrieval at session and turn grain."""

from memflow.benchmarks.longmemeval.config import KS
from memflow.benchmarks.longmemeval.types import TASK_AVERAGED, UNCLEAR
from memflow.scoring.catalog import ACCURACY as SHARED_ACCURACY
from memflow.scoring.metric import Metric

ALL_ANSWERABLE = "all_answerable"
TURN_TO_SESSION = "turn_to_session"
GRAINS = ("session", "turn")
NAMES = ("recall_any", "recall_all", "ndcg_any")
SOURCE = "LongMemEval, section 4.1; run_retrieval.py"
_MEANINGS = {
    "recall_any": "Share of the questions with a relevant {grain} among the first {k}",
    "recall_all": "Share of the questions with all relevant {grain}s among the first {k}",
    "ndcg_any": "nDCG of the first {k} {grain}s, binary, as published: rank 2 is not discounted",
}


def retrieval_metric(grain: str, name: str, k: int) -> str:
    """Return the name of a retrieval metric, such as `session_recall_any_at_5`."""
    return f"{grain}_{name}_at_{k}"


def _retrieval(grain: str, name: str, k: int) -> Metric:
    variants = {
        ALL_ANSWERABLE: "as in print_retrieval_metrics.py: with the questions without a marked turn of the user",
    }
    if grain == "session":
        variants[TURN_TO_SESSION] = "from the ranking of turns, until it has so many sessions"
    return Metric(
        retrieval_metric(grain, name, k),
        f"{grain.capitalize()} {name.replace('_', ' ')} @{k}",
        "higher",
        f"{_MEANINGS[name].format(grain=grain, k=k)}.",
        group="evidence",
        source=SOURCE,
        proportion=name.startswith("recall_"),
        variants=variants,
    )


METRICS = (
    SHARED_ACCURACY.primary_in("longmemeval"),
    Metric(
        TASK_AVERAGED,
        "Task-averaged accuracy",
        "higher",
        "Unweighted mean of the accuracy of the six question types.",
        primary_for=frozenset({"longmemeval"}),
        source="LongMemEval, print_qa_metrics.py",
    ),
    Metric(
        UNCLEAR,
        "Unclear labels",
        "lower",
        "Share of the judge's replies that are neither yes nor no; the label is whether they contain yes.",
        proportion=True,
        source="LongMemEval, evaluate_qa.py",
    ),
    *(_retrieval(grain, name, k) for grain in GRAINS for name in NAMES for k in KS),
)
