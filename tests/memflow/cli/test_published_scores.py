"""The rows of `show leaderboard`: the best of each group, and the evidence scores of the best assistants."""

from collections.abc import Sequence
from itertools import product
from random import Random

import factories
import pytest

from memflow.cli.published_scores import best, published_scores
from memflow.errors import BadInput
from memflow.records import Score
from memflow.scoring.catalog import is_evidence_score, sort_key
from resources.lake.lake import Lake

METRICS = ("accuracy", "rouge_l", "evidence_recall", "evidence_precision")
ASSISTANTS = [f"rag_2_4_{k}" for k in range(1, 13)]


@pytest.fixture
def rows() -> list[Score]:
    """Return scores with equal and missing values, so that many have the same place."""
    random = Random(7)
    keys = product(("one", "two"), ASSISTANTS, METRICS, ("standard", "published"), ("all", "period 1"))
    return [
        factories.score(domain=d, assistant=a, metric=m, variant=v, slice=s, value=random.choice((0.2, None)))
        for d, a, m, v, s in keys
        if not (m in METRICS[2:] and v == "published")
    ]


def ranked(rows: Sequence[Score], limit: int) -> list[Score]:
    return sorted(rows, key=lambda row: (sort_key(row.metric, row.value), row.assistant))[:limit]


def test_best_scores_are_the_first_of_each_group_in_stored_order(rows) -> None:
    plain = [row for row in rows if not is_evidence_score(row)]
    shown = best(plain, 3)
    for group in {(row.domain, row.metric, row.variant, row.slice) for row in plain}:
        of_group = [row for row in plain if (row.domain, row.metric, row.variant, row.slice) == group]
        first = ranked(of_group, 3)
        assert [row for row in shown if row in of_group] == [row for row in of_group if row in first]
    assert len(shown) == 2 * 2 * 2 * 2 * 3
    assert best(rows, 0) == rows


def test_evidence_scores_are_those_of_the_best_assistants(rows) -> None:
    whole = [row for row in rows if row.slice == "all" and is_evidence_score(row)]
    for domain in ("one", "two"):
        first = [row for row in whole if (row.domain, row.metric) == (domain, METRICS[2])]
        names = {row.assistant for row in ranked(first, 2)}
        shown = [row for row in best(whole, 2) if row.domain == domain]
        assert shown == [row for row in whole if row.domain == domain and row.assistant in names]
    without_first = [row for row in whole if row.metric == METRICS[3]]
    assert len(best(without_first, 2)) == 4


def test_missing_leaderboard_is_an_error_and_slices_are_shown_on_request(tmp_path, rows) -> None:
    lake = Lake(tmp_path)
    with pytest.raises(BadInput, match="no leaderboard"):
        published_scores(lake, slices=False)
    lake.write("score.leaderboard", "all", rows, fingerprint="f")
    assert published_scores(lake, slices=True) == (rows, rows)
    assert published_scores(lake, slices=False) == (rows, [row for row in rows if row.slice == "all"])
