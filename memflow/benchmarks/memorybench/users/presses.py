"""What the users of a domain press: the action model on each family's satisfaction, one seeded draw a row (A.2.3).

Who is how satisfied is settled before (reactions.py), and what a probability is, is actions.py's.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.tasks.catalogue import ACCURACY, LOCOMO_F1, task
from memflow.benchmarks.memorybench.users.actions import (
    PUBLISHED,
    Actions,
    Calibrated,
    Family,
    calibrate,
    draw,
)
from memflow.benchmarks.memorybench.users.noise import perturbed
from memflow.fingerprint import seeded
from memflow.records import FeedbackRound, PlayedRound, Probe

Round = TypeVar("Round", bound=FeedbackRound)

_FAMILIES: Mapping[str, Family] = {LOCOMO_F1: "deterministic", ACCURACY: "binary"}


def family(metric: str) -> Family:
    """The action model of a probe with that metric."""
    return _FAMILIES.get(metric, "general")


@dataclass(frozen=True, slots=True)
class Pressing:
    """What one reaction leads to: `felt` is its satisfaction with noise, from which `chances` follow."""

    felt: int
    family: Family
    chances: Actions
    fits: bool
    """Whether the chances are as calibrated, with nothing cut off at 1."""


def pressings(
    domain: Domain, rows: Sequence[FeedbackRound], probes: Sequence[Probe]
) -> list[Pressing | None]:
    """For each row what its user may press; None where satisfaction is not known.

    Noise comes after calibration: it blurs who presses, and keeps the mapping (A.3.9).
    """
    asked = {probe.probe_id: probe for probe in probes}
    kinds = [family(asked[row.case_id].metric) for row in rows]
    population: dict[Family, Counter[int]] = {}
    for row, kind in zip(rows, kinds, strict=True):
        if row.satisfaction is not None:
            population.setdefault(kind, Counter())[row.satisfaction] += 1
    models = {kind: _calibrated(domain, kind, scores) for kind, scores in population.items()}
    return [_pressing(domain, row, models.get(kind)) for row, kind in zip(rows, kinds, strict=True)]


def pressed(domain: Domain, rows: Sequence[Round], probes: Sequence[Probe]) -> list[Round]:
    """The rows with what users pressed, and with the satisfaction they pressed it in where there is noise."""
    noisy = parameters_of(domain).noise > 0
    found = []
    for row, pressing in zip(rows, pressings(domain, rows, probes), strict=True):
        if pressing is None:
            found.append(row)
            continue
        drawn = draw(pressing.chances, _chance(domain, row, "press"))
        found.append(
            replace(
                row,
                felt=pressing.felt if noisy else None,
                liked=drawn.liked,
                disliked=drawn.disliked,
                copied=drawn.copied,
            )
        )
    return found


def _calibrated(domain: Domain, kind: Family, own: Mapping[int, float]) -> Calibrated:
    parameters = parameters_of(domain)
    given = PUBLISHED if parameters.calibration == "published" else parameters.calibration
    histogram = own if isinstance(given, str) else given.get(kind, own)
    return calibrate(histogram, kind, parameters.actions)


def _pressing(domain: Domain, row: FeedbackRound, model: Calibrated | None) -> Pressing | None:
    if row.satisfaction is None or model is None:
        return None
    felt = perturbed(row.satisfaction, parameters_of(domain).noise, _chance(domain, row, "noise"))
    chances = model.actions(felt, long_output=task(row.dataset).long_output)
    return Pressing(felt, model.family, chances, model.fits(felt))


def _chance(domain: Domain, row: FeedbackRound, what: str) -> random.Random:
    # On-policy, a case may be drawn again: its users press anew.
    step = (row.checkpoint,) if isinstance(row, PlayedRound) else ()
    return random.Random(seeded(domain.seed, domain.name, row.case_id, row.round, what, *step))
