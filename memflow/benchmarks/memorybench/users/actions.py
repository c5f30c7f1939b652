"""Likes, dislikes and copies of simulated users, drawn at random from the action model of the metric (A.2.3)."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from memflow.benchmarks.domain_names import DomainName
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.tasks.catalog import ACCURACY, LOCOMO_F1, task
from memflow.benchmarks.memorybench.users.action_model import (
    MAX_SATISFACTION,
    MIN_SATISFACTION,
    PUBLISHED_HISTOGRAMS,
    ActionProbabilities,
    CalibratedModel,
    Family,
    calibrate,
    draw_actions,
)
from memflow.fingerprint import seeded
from memflow.records import FeedbackRound, PlayedRound, Probe

Round = TypeVar("Round", bound=FeedbackRound)

_FAMILIES: Mapping[str, Family] = {LOCOMO_F1: "deterministic", ACCURACY: "binary"}


def action_family(metric: str) -> Family:
    """Return the action family that a metric belongs to."""
    return _FAMILIES.get(metric, "general")


@dataclass(frozen=True, slots=True)
class RoundActions:
    """The action probabilities of a round. `felt` is the user's satisfaction including noise."""

    felt: int
    family: Family
    chances: ActionProbabilities


def round_actions(
    domain: Domain, rows: Sequence[FeedbackRound], probes: Sequence[Probe]
) -> list[RoundActions | None]:
    """Return the action probabilities of each row, or None for rows without satisfaction.

    Noise is added after calibration (A.3.9).
    """
    asked = {probe.probe_id: probe for probe in probes}
    kinds = [action_family(asked[row.case_id].metric) for row in rows]
    population: dict[Family, Counter[int]] = {}
    for row, kind in zip(rows, kinds, strict=True):
        if row.satisfaction is not None:
            population.setdefault(kind, Counter())[row.satisfaction] += 1
    models = {kind: _calibrated(domain, kind, scores) for kind, scores in population.items()}
    return [_pressing(domain, row, models.get(kind)) for row, kind in zip(rows, kinds, strict=True)]


def add_actions(domain: Domain, rows: Sequence[Round], probes: Sequence[Probe]) -> list[Round]:
    """Return the rows with drawn actions, and with noisy satisfaction if the domain has noise."""
    noisy = parameters_of(domain).noise > 0
    found = []
    for row, pressing in zip(rows, round_actions(domain, rows, probes), strict=True):
        if pressing is None:
            found.append(row)
            continue
        drawn = draw_actions(pressing.chances, _chance(domain, row, "press"))
        found.append(replace(row, felt=pressing.felt if noisy else None, **drawn._asdict()))
    return found


def _calibrated(domain: Domain, kind: Family, own: Mapping[int, float]) -> CalibratedModel:
    parameters = parameters_of(domain)
    histogram = PUBLISHED_HISTOGRAMS.get(kind, own) if parameters.calibration == "published" else own
    return calibrate(histogram, kind, parameters.actions)


def _pressing(domain: Domain, row: FeedbackRound, model: CalibratedModel | None) -> RoundActions | None:
    if row.satisfaction is None or model is None:
        return None
    felt = add_noise(row.satisfaction, parameters_of(domain).noise, _chance(domain, row, "noise"))
    chances = model.actions(felt, long_output=task(row.dataset).long_output)
    return RoundActions(felt, model.family, chances)


def _chance(domain: Domain, row: FeedbackRound, what: str) -> random.Random:
    # On-policy, a repeated case gets new actions.
    step = (row.checkpoint,) if isinstance(row, PlayedRound) else ()
    # Samples and profiles of a domain draw the same numbers, so differences between them are not due to chance.
    name = DomainName.parse(domain.name).stem
    return random.Random(seeded(domain.seed, name, row.case_id, row.round, what, *step))


def add_noise(satisfaction: int, sigma: float, chance: random.Random) -> int:
    """Return the satisfaction plus Gaussian noise with this standard deviation, rounded and clipped to 1 to 10."""
    return max(MIN_SATISFACTION, min(MAX_SATISFACTION, round(satisfaction + chance.gauss(0.0, sigma))))
