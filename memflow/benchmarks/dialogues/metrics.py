"""The metrics of own dialogues, and the shared metrics that are primary for the benchmark."""

from collections.abc import Mapping

from memflow.scoring.catalog import ACCURACY, RANDOM
from memflow.scoring.metric import Metric

NAME = "dialogues"
ANSWER_SCORE = Metric(
    "answer_score",
    "Answer score",
    "higher",
    "Mean over all probes of the value of each probe's own metric.",
)
EXACT_MATCH = Metric(
    "exact_match",
    "Exact match",
    "higher",
    "Share of the answers that equal a gold answer, without case, outer white space and a final period.",
    proportion=True,
)
ANSWER_F1 = Metric(
    "answer_f1",
    "Answer F1",
    "higher",
    "F1 of words beside the best gold answer: of Porter stems, or of jieba's words in Chinese.",
)
ANSWER_ROUGE_L = Metric(
    "answer_rouge_l",
    "Answer ROUGE-L",
    "higher",
    "F-measure of the longest common subsequence of words beside the best gold answer.",
)
JUDGED = Metric(
    "judged_correct",
    "Judged correct",
    "higher",
    "Share of the answers that a judge finds correct by the gold answers or the rubric.",
    proportion=True,
)
ABSTENTION = Metric(
    "abstention",
    "Abstention",
    "higher",
    "Share of the unanswerable open questions to which the answer is that there is no answer.",
    proportion=True,
)
FALSE_ABSTENTION = Metric(
    "false_abstention",
    "False abstention",
    "lower",
    "Share of the answerable open questions to which the answer is that there is no answer.",
    proportion=True,
)
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
METRICS = (
    ANSWER_SCORE.primary_in(NAME),
    *(each.primary_in(NAME) for each in OF_PROBES),
    RANDOM.primary_in(NAME),
    FALSE_ABSTENTION.primary_in(NAME),
)
