"""Agreement statistics: worked examples from the literature, and invariants."""

import numpy as np
import pytest

from memflow.errors import BadInput
from memflow.metrics.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    kendall_tau,
    krippendorff_alpha,
    percent_agreement,
)

YN = ("yes", "no")


def table(both_yes: int, first: int, second: int, both_no: int) -> list[tuple[str, str]]:
    """Return ratings of two raters, from the counts of (yes, yes), (yes, no), (no, yes) and (no, no)."""
    counts = {("yes", "yes"): both_yes, ("yes", "no"): first, ("no", "yes"): second, ("no", "no"): both_no}
    return [pair for pair, count in counts.items() for _ in range(count)]


# Gwet's own example of ratings by four raters, some missing (Handbook of inter-rater reliability, 2014).
GWET = [
    [None if label == "-" else label for label in row]
    for row in [
        "11-1",
        "2232",
        "3333",
        "3333",
        "2222",
        "1234",
        "4444",
        "1121",
        "2222",
        "-555",
        "--11",
        "--3-",
    ]
]


class TestWorkedExamples:
    @pytest.mark.parametrize(
        ("statistic", "counts", "categories", "expected"),
        [
            (percent_agreement, (118, 5, 2, 0), YN, 0.944),
            # a = 118/125 = 0.944; p(yes) = (123 + 120) / 250 = 0.972; e = 2 * 0.972 * 0.028 = 0.054432.
            (gwet_ac1, (118, 5, 2, 0), YN, (0.944 - 0.054432) / (1 - 0.054432)),
            # Three choices, one unused: e = 0.054432 / 2.
            (gwet_ac1, (118, 5, 2, 0), (*YN, "perhaps"), (0.944 - 0.027216) / (1 - 0.027216)),
            # Chance after Cohen: 123/125 * 120/125 + 2/125 * 5/125 = 0.94528, above the agreement itself.
            (cohen_kappa, (118, 5, 2, 0), YN, (0.944 - 0.94528) / 0.05472),
            # a = 0.8; both say yes half of the time: e = 0.5 either way.
            (gwet_ac1, (40, 10, 10, 40), YN, 0.6),
            (cohen_kappa, (40, 10, 10, 40), YN, 0.6),
            # Both raters use one label only.
            (cohen_kappa, (9, 0, 0, 0), YN, None),
            (gwet_ac1, (9, 0, 0, 0), YN, 1),
        ],
    )
    def test_agreement_statistics_match_hand_computed_values(self, statistic, counts, categories, expected):
        assert statistic(table(*counts), categories).value == pytest.approx(expected)

    def test_gwet_ac1_of_two_raters_matches_the_published_example(self):
        assert gwet_ac1(table(118, 5, 2, 0), YN).value == pytest.approx(0.94078, abs=5e-6)

    def test_agreement_of_several_raters_with_missing_ratings_matches_published_example(self):
        # Gwet prints 0.81818 and 0.77544. By hand: the shares of pairs that agree are 1 for eight of the eleven items
        # with two ratings or more, 1/2 for items 2 and 8, 0 for item 6: a = 9/11. Shares of the five categories,
        # summed over all twelve items: 1: 1 + 1/4 + 3/4 + 1; 2: 3/4 + 1 + 1/4 + 1/4 + 1; and so on.
        shares = np.array([3.0, 3.25, 3.5, 1.25, 1.0]) / 12
        chance = (shares * (1 - shares)).sum() / 4
        assert shares.sum() == pytest.approx(1)
        assert percent_agreement(GWET, "12345").value == pytest.approx(9 / 11)
        assert gwet_ac1(GWET, "12345").value == pytest.approx((9 / 11 - chance) / (1 - chance))
        assert gwet_ac1(GWET, "12345").value == pytest.approx(0.77544, abs=5e-6)


class TestIntervals:
    def test_agreement_interval_is_over_episodes(self):
        # One user with all the quarrels: drawn over users the interval is wide, over items it is narrow.
        ratings = table(20, 0, 0, 20) + table(0, 10, 10, 0)
        users = ["a"] * 20 + ["b"] * 20 + ["c"] * 20
        over_users = gwet_ac1(ratings, YN, episodes=users)
        over_items = gwet_ac1(ratings, YN)
        assert over_users.value == over_items.value
        assert over_users.low < over_items.low < over_items.value < over_items.high < over_users.high


class TestMissingAndInvalidInput:
    def test_agreement_is_missing_if_no_item_has_two_ratings(self):
        for found in (percent_agreement, gwet_ac1):
            assert found([("yes", None), (None, "no")], YN)[:4] == (None, None, None, None)
            assert found([], YN)[:4] == (None, None, None, None)
        assert cohen_kappa([("yes", None)], YN).value is None

    def test_agreement_rejects_unknown_labels_and_mismatched_arguments(self):
        with pytest.raises(
            BadInput, match=r"item 1: the label 'perhaps' is not a category\. Use one of: yes, no"
        ):
            gwet_ac1([("yes", "no"), ("perhaps", "no")], YN)
        with pytest.raises(BadInput, match="at least two categories"):
            gwet_ac1([("yes", "yes")], ["yes"])
        with pytest.raises(BadInput, match="needs two raters; item 0 has 3"):
            cohen_kappa([("yes", "yes", "no")], YN)
        with pytest.raises(BadInput, match="`episodes` names 2 episodes for 1 items"):
            percent_agreement([("yes", "yes")], YN, episodes=["a", "b"])


class TestGrades:
    def test_krippendorff_alpha_matches_the_published_example_of_interval_data(self):
        # Computing Krippendorff's alpha-reliability (2011), section C: interval data of GWET's ratings, 0.849.
        values = [[None if label is None else float(label) for label in row] for row in GWET]
        assert krippendorff_alpha(values).value == pytest.approx(0.849, abs=5e-4)

    def test_krippendorff_alpha_is_undefined_if_all_values_are_equal(self):
        assert krippendorff_alpha([(2, 2), (2, 2)]).value is None

    @pytest.mark.parametrize(
        ("first", "second", "tau"),
        [
            ([1, 2, 3, 4], [1, 2, 4, 3], 2 / 3),
            ([1, 2, 3], [3, 2, 1], -1),
            # One tie in each list: (8 - 1 - 1) / 9, as scipy.stats.kendalltau.
            ([1, 2, 2, 4, 5], [3, 1, 4, 4, 6], 2 / 3),
            ([1, 1], [1, 2], None),
        ],
    )
    def test_kendalls_tau_counts_pairs_in_the_same_order(self, first, second, tau):
        assert kendall_tau(first, second) == (None if tau is None else pytest.approx(tau))


FLEISS = [
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1), (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]  # fmt: skip
"""Ratings of ten subjects by 14 raters in five categories, the usual worked example of Fleiss' kappa."""


def test_fleiss_kappa_of_the_worked_example_is_0_21() -> None:
    ratings = [[f"c{at}" for at, count in enumerate(row) for _ in range(count)] for row in FLEISS]
    found = fleiss_kappa(ratings, [f"c{at}" for at in range(5)])
    assert found.value == pytest.approx(0.20993, abs=1e-5)
    assert found.low < found.value < found.high


def test_fleiss_kappa_leaves_out_items_with_one_rating_and_is_none_without_variation() -> None:
    ratings = [["yes", "no", "yes"], ["no", "no", None], ["yes", None, None]]
    assert fleiss_kappa(ratings, YN).value == fleiss_kappa(ratings[:2], YN).value
    assert fleiss_kappa([["yes", "yes", "yes"]] * 3, YN).value is None
    assert fleiss_kappa([["yes", None, None]] * 3, YN).value is None
