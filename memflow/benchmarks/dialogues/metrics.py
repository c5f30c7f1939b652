"""The metrics of own dialogues, and the shared metrics that are primary for the benchmark."""

from collections.abc import Mapping

from memflow.scoring.catalog import ACCURACY, RANDOM
from memflow.scoring.metric_file import load_metrics

NAME = "dialogues"
_OWN = load_metrics("memflow.benchmarks.dialogues")
ANSWER_SCORE, EXACT_MATCH, ANSWER_F1 = _OWN["answer_score"], _OWN["exact_match"], _OWN["answer_f1"]
ANSWER_ROUGE_L, JUDGED = _OWN["answer_rouge_l"], _OWN["judged_correct"]
ABSTENTION, FALSE_ABSTENTION = _OWN["abstention"], _OWN["false_abstention"]
METRIC_NAMES: Mapping[str, str] = {
    "accuracy": ACCURACY.name,
    "exact_match": EXACT_MATCH.name,
    "f1": ANSWER_F1.name,
    "rouge_l": ANSWER_ROUGE_L.name,
    "judge": JUDGED.name,
    "abstention": ABSTENTION.name,
}
"""The names of metrics in the catalog, by their names in a question."""
OF_PROBES = (ACCURACY, EXACT_MATCH, ANSWER_F1, ANSWER_ROUGE_L, JUDGED, ABSTENTION)
"""The metrics that score probes."""
METRICS = tuple(metric.primary_in(NAME) for metric in (ANSWER_SCORE, *OF_PROBES, RANDOM, FALSE_ABSTENTION))
