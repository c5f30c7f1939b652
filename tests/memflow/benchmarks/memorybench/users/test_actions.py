from dataclasses import replace
from typing import Any

import factories
import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.users.actions import add_actions, round_actions
from memflow.benchmarks.registry import find_domain
from memflow.records import FeedbackRound

DEMO = find_domain("memorybench_demo")
METRICS = {"locomo": "locomo_f1", "dialsim_friends": "accuracy", "judge": "integrated", "nfcats": "quality"}
PROBES = [
    factories.probe(
        domain=DEMO.name, probe_id=f"{dataset}/{n}", split="train", dataset=dataset, metric=metric
    )
    for dataset, metric in METRICS.items()
    for n in range(400)
]


def rows_of(dataset: str, *scores: int | None) -> list[FeedbackRound]:
    return [
        factories.feedback_round(
            domain=DEMO.name, dataset=dataset, case_id=f"{dataset}/{n}", satisfaction=score
        )
        for n, score in enumerate(scores)
    ]


def with_(**parameters: Any) -> Domain:
    return replace(DEMO, parameters=parameters)


def test_action_probabilities_of_each_feedback_family_are_calibrated_separately() -> None:
    scores = {
        "locomo": (1, 1, 6, 10),
        "dialsim_friends": (3, 9, 9, 9),
        "judge": (7, 8, 8, 9),
        "nfcats": (2, 5),
    }
    rows = [row for dataset, found in scores.items() for row in rows_of(dataset, *found)]
    found = round_actions(DEMO, rows, PROBES)
    for family, n in (("deterministic", 4), ("binary", 4), ("general", 6)):
        chances = [one.chances for one in found if one and one.family == family]
        assert len(chances) == n
        assert sum(one.like for one in chances) / n == pytest.approx(0.0559)
        assert sum(one.dislike for one in chances) / n == pytest.approx(0.0091)


def test_published_calibration_uses_histogram_of_the_rows_for_locomo() -> None:
    rows = rows_of("judge", 9, 9) + rows_of("dialsim_friends", 9, 9) + rows_of("locomo", 10, 10)
    judge, _, dialsim, _, locomo, _ = round_actions(with_(calibration="published"), rows, PROBES)
    assert judge and dialsim and locomo
    assert judge.chances.like == pytest.approx(0.07749, abs=1e-5)
    assert dialsim.chances.like == pytest.approx(0.099, abs=5e-4)
    assert locomo.chances.like == pytest.approx(0.0559)


def test_copy_probability_is_zero_for_tasks_with_short_outputs() -> None:
    (long,), (short,) = (round_actions(DEMO, rows_of(name, 8), PROBES) for name in ("judge", "nfcats"))
    assert long and short
    assert long.chances.copy == pytest.approx(4 * long.chances.like)
    assert short.chances.copy == 0.0


def test_noise_changes_felt_satisfaction_and_not_recorded_satisfaction() -> None:
    rows = rows_of("judge", *[3] * 200, *[9] * 200)
    noisy = with_(noise=1.0)
    found = add_actions(noisy, rows, PROBES)
    assert [row.satisfaction for row in found] == [row.satisfaction for row in rows]
    felt = [row.felt for row in found]
    assert all(score is not None and 1 <= score <= 10 for score in felt)
    changed = sum(row.felt != row.satisfaction for row in found)
    assert 0.5 < changed / len(found) < 0.7  # 61.7 % where no end of the scale is near
    at_nine = {one.chances for one in round_actions(noisy, rows, PROBES) if one and one.felt == 9}
    assert at_nine == {one.chances for one in round_actions(DEMO, rows, PROBES) if one and one.felt == 9}
