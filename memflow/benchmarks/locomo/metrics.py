"""The metrics of LoCoMo: J under each judge contract, word overlap, and the bound that the answer key sets."""

from memflow.benchmarks.memorybench.metrics import METRICS as MEMORYBENCH_METRICS
from memflow.benchmarks.memorybench.tasks.catalog import LOCOMO_F1
from memflow.scoring.metric import Metric

NAME = "locomo"
SET_F1, BLEU_1, KEY_CEILING, RUN_DEVIATION = "set_f1", "bleu_1", "key_ceiling", "judge_run_deviation"
_MEM0 = "Mem0 (arXiv 2504.19413), section 3"
_VARIANTS = {
    "unlabeled_as_wrong": "an answer of the judge without a label counts as wrong, as in the published code",
    "recorded": "the label published with an imported answer, beside the judgments of `import results --judge`",
    "run_N": "the judgments of run N, where the judge is run several times",
}


def _contract_metric(metric: str, title: str, description: str, source: str = "") -> Metric:
    return Metric(
        metric, title, "higher", description, source=source, proportion=True, variants=_VARIANTS
    ).primary_in(NAME)


_LOCOMO_F1 = next(metric for metric in MEMORYBENCH_METRICS if metric.name == LOCOMO_F1)

METRICS = (
    _contract_metric(
        "j_2025",
        "J (2025)",
        "Share of the answers that a generous judge labels CORRECT: on the topic of the gold answer.",
        _MEM0,
    ),
    _contract_metric(
        "j_2026",
        "J (2026)",
        "Share of the answers that a more generous judge labels CORRECT: one item of a list, a date within 14 days.",
        "Mem0, memory-benchmarks (2026)",
    ),
    _contract_metric(
        "j_strict",
        "J, strict",
        "Share of the answers that a strict judge labels CORRECT: all of the gold answer, and no contradiction.",
    ),
    _LOCOMO_F1.primary_in(NAME),
    Metric(SET_F1, "F1 of word sets", "higher", "F1 of the sets of words, without stemming.", source=_MEM0),
    Metric(BLEU_1, "BLEU-1", "higher", "Precision of words, with a penalty for short answers.", source=_MEM0),
    Metric(
        KEY_CEILING,
        "Ceiling of the key",
        "neither",
        "Share of the probes whose gold answer has no known error.",
        group="bound",
        proportion=True,
    ),
    Metric(
        RUN_DEVIATION,
        "Deviation over judge runs",
        "neither",
        "Standard deviation of the J of each judge run, with the divisor runs - 1; J under the first contract.",
        source=_MEM0,
        variants={"CONTRACT": "of J under another contract"},
    ),
)
