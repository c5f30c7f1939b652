"""Selection and order of the scores that summaries show: primary metrics over all probes, best assistant first.

The leaderboard's preview, the metadata of verdicts and `memflow run` use these functions. How the scores are printed
belongs elsewhere: markdown.py, memflow/cli.
"""

from collections.abc import Callable, Iterable, Sequence

from memflow.records import Score
from memflow.scoring.catalog import find_metric, is_evidence_score, sort_key
from memflow.scoring.failure_attributions import is_state_probe_score, metric_text

VariantChooser = Callable[[str, str], str]
"""A function from (domain, metric) to the variant that summaries show."""


def primary_scores(
    scores: Iterable[Score], benchmark_of: Callable[[str], str], variant_of: VariantChooser
) -> list[Score]:
    """Return the scores of the primary metrics over all probes, in the order of `scores`.

    `benchmark_of` maps a domain to its benchmark. Evidence scores and failure rates have tables of their own
    (failure_attributions.py), and are left out.
    """
    return [
        score
        for score in scores
        if score.slice == "all"
        and benchmark_of(score.domain) in find_metric(score.metric).primary_for
        and score.variant == variant_of(score.domain, score.metric)
        and not is_evidence_score(score)
        and not is_state_probe_score(score)
    ]


def ranked_assistants(scores: Sequence[Score]) -> list[tuple[str, dict[str, Score]]]:
    """Return each assistant of one domain with its scores by metric, best assistant first.

    The first metric with a direction ranks; ties are in the order of names.
    """
    by_assistant: dict[str, dict[str, Score]] = {}
    for score in scores:
        by_assistant.setdefault(score.assistant, {})[score.metric] = score
    metrics = dict.fromkeys(score.metric for score in scores)
    ranking_metric = next((name for name in metrics if find_metric(name).direction != "neither"), "")

    def rank(item: tuple[str, dict[str, Score]]) -> tuple[float, str]:
        assistant, scores_of_assistant = item
        score = scores_of_assistant.get(ranking_metric)
        return sort_key(ranking_metric, None if score is None else score.value), assistant

    return sorted(by_assistant.items(), key=rank)


def score_numbers(scores: Iterable[Score]) -> dict[str, float]:
    """Return the values and their interval limits by name: `accuracy`, `accuracy low`, `accuracy high`.

    `metric_text` names a failure rate by state probes. Missing values and limits are omitted, and so are the metrics
    without a direction, which rank no assistant.
    """
    numbers: dict[str, float] = {}
    for score in scores:
        if find_metric(score.metric).direction == "neither":
            continue
        name = metric_text(score.metric) if is_state_probe_score(score) else score.metric
        value_and_limits = {"": score.value, " low": score.low, " high": score.high}
        numbers |= {
            f"{name}{suffix}": number for suffix, number in value_and_limits.items() if number is not None
        }
    return numbers
