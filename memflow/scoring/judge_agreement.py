"""Agreement of several judges: of their verdicts on the same replies, and of the ranks that they give to assistants.

judges.py names the variants of judges. memflow/metrics/agreement.py computes the statistics.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from statistics import fmean
from typing import NamedTuple

from memflow.metrics.agreement import (
    cohen_kappa,
    gwet_ac1,
    kendall_tau,
    krippendorff_alpha,
    percent_agreement,
)
from memflow.metrics.intervals import Interval
from memflow.records import Score
from memflow.scoring.judges import parse_variant

UNDEFINED = Interval(None, None, None)
CATEGORIES = (0.0, 1.0)
"""The values of a metric whose verdicts are categories; verdicts with other values are graded."""


class JudgedItem(NamedTuple):
    """One verdict on one item (a reply or a claim). `item` is unique in the domain."""

    item: str
    episode: str
    metric: str
    variant: str
    value: float | None


@dataclass(frozen=True, slots=True)
class AssistantBand:
    """An assistant's mean over judges, and the score of each judge in the order of the judges."""

    assistant: str
    mean: float | None
    by_judge: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of the judges of one metric and variant in one domain, on the `items` that two or more judged.

    `ac1` and `kappa` are defined for categories but not for graded verdicts. `kappa` is the mean over pairs of judges
    (Light's kappa). `alpha` is Krippendorff's for interval values. `tau` is the mean over pairs of judges of Kendall's
    tau-b between the scores of the assistants; None for fewer than two assistants.
    """

    domain: str
    metric: str
    variant: str
    judges: tuple[str, ...]
    items: int
    agreement: Interval
    ac1: Interval
    kappa: float | None
    alpha: Interval
    tau: float | None
    assistants: tuple[AssistantBand, ...]


def judge_agreements(
    domain: str, items: Iterable[JudgedItem], scores: Iterable[Score], seed: int = 0
) -> list[JudgeAgreement]:
    """Return the agreement for each metric and variant with several judges. `seed` is the seed of the bootstrap.

    `items` are the verdicts on all assistants of the domain. `scores` may include scores of other domains.
    """
    verdicts: dict[tuple[str, str], dict[str, dict[tuple[str, str], float | None]]] = {}
    for item in items:
        base, judge = parse_variant(item.variant)
        if judge is not None:
            verdicts_of_metric = verdicts.setdefault((item.metric, base), {})
            verdicts_of_metric.setdefault(judge, {})[item.item, item.episode] = item.value
    overall_scores = [score for score in scores if score.domain == domain and score.slice == "all"]
    return [
        _agreement(domain, metric, variant, by_judge, overall_scores, seed)
        for (metric, variant), by_judge in verdicts.items()
    ]


def _agreement(
    domain: str,
    metric: str,
    variant: str,
    by_judge: Mapping[str, Mapping[tuple[str, str], float | None]],
    scores: Sequence[Score],
    seed: int,
) -> JudgeAgreement:
    """Return the agreement of the judges on the replies that at least two of them scored."""
    keys = dict.fromkeys(chain.from_iterable(by_judge.values()))
    rows, episodes = [], []
    for key in keys:
        row = [values.get(key) for values in by_judge.values()]
        if sum(value is not None for value in row) > 1:
            rows.append(row)
            episodes.append(key[1])
    bands = _assistant_bands(metric, variant, tuple(by_judge), scores)
    agreement = ac1 = UNDEFINED
    kappa = None
    if all(value in (None, *CATEGORIES) for row in rows for value in row):
        labels = [[None if value is None else str(float(value)) for value in row] for row in rows]
        names = [str(value) for value in CATEGORIES]
        agreement = percent_agreement(labels, names, episodes=episodes)
        ac1 = gwet_ac1(labels, names, episodes=episodes, seed=seed)
        kappa = _mean(
            cohen_kappa([[row[judge_a], row[judge_b]] for row in labels], names, seed=seed).value
            for judge_a, judge_b in combinations(range(len(by_judge)), 2)
        )
    return JudgeAgreement(
        domain,
        metric,
        variant,
        tuple(by_judge),
        len(rows),
        agreement,
        ac1,
        kappa,
        krippendorff_alpha(rows, episodes=episodes, seed=seed),
        _rank_stability(bands),
        tuple(bands),
    )


def _assistant_bands(
    metric: str, variant: str, judges: Sequence[str], scores: Sequence[Score]
) -> list[AssistantBand]:
    """Return each assistant's mean over judges and the score of each judge, for one metric and variant."""
    values_by_assistant: dict[str, dict[str | None, float | None]] = {}
    for score in scores:
        base, judge = parse_variant(score.variant)
        if (score.metric, base) == (metric, variant):
            values_by_assistant.setdefault(score.assistant, {})[judge] = score.value
    # A variant without a judge is the mean over judges: its key is None.
    return [
        AssistantBand(
            assistant, scores_by_judge.get(None), tuple(scores_by_judge.get(judge) for judge in judges)
        )
        for assistant, scores_by_judge in values_by_assistant.items()
    ]


def _rank_stability(bands: Sequence[AssistantBand]) -> float | None:
    """Return the mean over pairs of judges of Kendall's tau-b, over the assistants that all judges scored."""
    complete_bands = []
    for band in bands:
        values = [value for value in band.by_judge if value is not None]
        if len(values) == len(band.by_judge):
            complete_bands.append(values)
    if len(complete_bands) < 2:
        return None
    values_by_judge = list(zip(*complete_bands, strict=True))
    return _mean(kendall_tau(values_a, values_b) for values_a, values_b in combinations(values_by_judge, 2))


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean, or None if a value is None."""
    all_values = list(values)
    known_values = [value for value in all_values if value is not None]
    return fmean(known_values) if known_values and len(known_values) == len(all_values) else None
