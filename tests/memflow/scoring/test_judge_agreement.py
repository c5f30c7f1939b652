"""Agreement of judges: of categories and grades, and of the ranks of assistants."""

import factories
import pytest

from memflow.scoring.judge_agreement import JudgedItem, judge_agreements
from memflow.scoring.judges import judge_variant


def items(metric: str, **values: list[float | None]) -> list[JudgedItem]:
    """Return the verdicts of judges on items, each its own episode."""
    return [
        JudgedItem(str(at), str(at), metric, judge_variant("standard", judge), value)
        for judge, given in values.items()
        for at, value in enumerate(given)
    ]


def scores(metric: str, **by_assistant: tuple[float, ...]):
    """Return the scores of judges `a` and `b`, and their mean, for each assistant."""
    return [
        factories.score(domain="d", assistant=assistant, metric=metric, variant=variant, value=value)
        for assistant, values in by_assistant.items()
        for variant, value in zip(("standard", "judge_a", "judge_b"), values, strict=True)
    ]


def test_agreement_on_categories_has_percent_agreement_ac1_and_kappa():
    # Of 100 replies, 40 are correct and 40 wrong for both judges (tests/memflow/metrics/test_agreement.py).
    one, other = [1.0] * 50 + [0.0] * 50, [1.0] * 40 + [0.0] * 10 + [1.0] * 10 + [0.0] * 40
    [found] = judge_agreements("d", items("accuracy", a=one, b=other), [])
    assert found.agreement.value == pytest.approx(0.8)
    assert found.ac1.value == pytest.approx(0.6)
    assert found.kappa == pytest.approx(0.6)
    assert (found.judges, found.items) == (("a", "b"), 100)


def test_agreement_on_grades_has_krippendorffs_alpha_but_no_ac1_or_kappa():
    [found] = judge_agreements("d", items("criteria", a=[1, 5, 9], b=[2, 5, 10]), [])
    assert found.ac1.value is None and found.kappa is None
    assert found.alpha.value is not None and found.alpha.value > 0.9


def test_kappa_of_three_judges_is_the_mean_over_pairs():
    [found] = judge_agreements("d", items("accuracy", a=[1, 0, 1, 0], b=[1, 0, 1, 0], c=[0, 1, 0, 1]), [])
    assert found.kappa == pytest.approx((1 - 1 - 1) / 3)


@pytest.mark.parametrize(("last", "tau"), [((3.5, 3, 4), 1.0), ((1, 0.5, 1.5), 1.0), ((2.5, 4, 1), -1 / 3)])
def test_rank_stability_is_kendalls_tau_over_assistants(last: tuple[float, ...], tau: float):
    given = scores("criteria", x=(1.5, 1, 2), y=(2.5, 2, 3), z=last)
    [found] = judge_agreements("d", items("criteria", a=[1, 2], b=[2, 3]), given)
    assert found.tau == pytest.approx(tau)
    assert [band.assistant for band in found.assistants] == ["x", "y", "z"]
    assert found.assistants[0].by_judge == (1, 2)


def test_rank_stability_is_undefined_for_a_single_assistant():
    given = scores("criteria", x=(1.5, 1, 2))
    [found] = judge_agreements("d", items("criteria", a=[1, 2], b=[2, 3]), given)
    assert found.tau is None
