"""The metrics of LoCoMo: J under each judge contract, word overlap, and the bound that the answer key sets."""

from memflow.benchmarks.memorybench.metrics import METRICS as MEMORYBENCH_METRICS
from memflow.benchmarks.memorybench.tasks.catalog import LOCOMO_F1
from memflow.scoring.metric_file import load_metrics

NAME = "locomo"
SET_F1, BLEU_1, KEY_CEILING, RUN_DEVIATION = "set_f1", "bleu_1", "key_ceiling", "judge_run_deviation"
J_RECORDED = "j_recorded"
_OWN = load_metrics("memflow.benchmarks.locomo")
METRICS = (
    *(metric for metric in _OWN.values() if metric.name.startswith("j_")),
    *(metric.primary_in(NAME) for metric in MEMORYBENCH_METRICS if metric.name == LOCOMO_F1),
    *(metric for metric in _OWN.values() if not metric.name.startswith("j_")),
)
