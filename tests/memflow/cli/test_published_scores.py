"""The filter and the ranking of `show leaderboard` equal those over the leaderboard's rows as objects."""

from dataclasses import replace
from itertools import product
from random import Random

import pytest

from memflow.cli.published_scores import PublishedScores
from memflow.errors import BadInput
from memflow.records import Score
from memflow.scoring.catalog import is_evidence_score, sort_key
from resources.lake import row_groups
from resources.lake.lake import Lake

METRICS = ("accuracy", "rouge_l", "evidence_recall", "evidence_precision")
ASSISTANTS = [f"rag_2_4_{k}" for k in range(1, 13)]
BASE = Score(
    domain="",
    assistant="",
    memory="rag",
    metric="",
    slice="all",
    value=0.5,
    model="m",
    low=None,
    high=None,
    n=1,
    n_episodes=1,
    coverage=1.0,
    simulator="m",
    scripted=False,
)


@pytest.fixture
def rows() -> list[Score]:
    """Return scores with equal and missing values, so that many have the same place."""
    random = Random(7)
    keys = product(("one", "two"), ASSISTANTS, METRICS, ("standard", "published"), ("all", "period 1"))
    return [
        replace(
            BASE, domain=d, assistant=a, metric=m, variant=v, slice=s, value=random.choice((0.2, 0.4, None))
        )
        for d, a, m, v, s in keys
        if not (m in METRICS[2:] and v == "published")
    ]


@pytest.fixture
def lake(tmp_path, monkeypatch, rows) -> Lake:
    """Return a lake with a leaderboard of many row groups."""
    monkeypatch.setattr(row_groups, "GROUP_ROWS", 16)
    lake = Lake(tmp_path)
    lake.write("score.leaderboard", "all", rows, fingerprint="f")
    return lake


def best_rows(rows: list[Score], limit: int) -> list[Score]:
    """Return the best scores of each domain, metric, variant and slice that are no evidence scores."""
    kept = []
    for group in {(row.domain, row.metric, row.variant, row.slice) for row in rows}:
        of_group = [row for row in rows if (row.domain, row.metric, row.variant, row.slice) == group]
        kept += sorted(of_group, key=lambda row: (sort_key(row.metric, row.value), row.assistant))[:limit]
    return [row for row in rows if row in kept]


def test_best_scores_equal_those_sorted_as_objects(lake, rows) -> None:
    published = PublishedScores(lake, slices=True)
    found = published.find(lambda group: not is_evidence_score(group), None)
    plain = [row for row in rows if not is_evidence_score(row)]
    assert len({row.metric for row in plain}) > 1
    assert published.read(published.best(found, 3)) == best_rows(plain, 3)


def test_evidence_scores_are_those_of_the_best_assistants(lake, rows) -> None:
    published = PublishedScores(lake, slices=False)
    scores = published.read(published.best(published.find(is_evidence_score, None), 2))
    assert scores
    for domain in ("one", "two"):
        first = [
            row for row in rows if row.domain == domain and row.slice == "all" and is_evidence_score(row)
        ]
        metric = first[0].metric
        best = sorted(
            (row for row in first if row.metric == metric),
            key=lambda row: (sort_key(metric, row.value), row.assistant),
        )[:2]
        shown = [score for score in scores if score.domain == domain]
        assert {score.assistant for score in shown} == {row.assistant for row in best}
        assert shown == [row for row in first if row.assistant in {row.assistant for row in best}]


def test_rows_of_one_assistant_and_of_all_slices_are_found(lake, rows) -> None:
    def found(assistants: list[str] | None, *, slices: bool) -> list[Score]:
        published = PublishedScores(lake, slices=slices)
        groups = published.find(lambda group: group.domain == "two", assistants)
        return published.read(row for places in groups.values() for row in places)

    two = [row for row in rows if row.domain == "two"]
    assert found(None, slices=True) == two
    assert found(None, slices=False) == [row for row in two if row.slice == "all"]
    named = ["rag_2_4_3", "rag_2_4_11", "nobody"]
    assert found(named, slices=True) == [row for row in two if row.assistant in named]


def test_evidence_scores_without_the_first_metric_are_shown(tmp_path) -> None:
    lake = Lake(tmp_path)
    of = (("rag", METRICS[2]), ("rag", METRICS[3]), ("imported", METRICS[3]))
    rows = [replace(BASE, domain="one", assistant=a, metric=m) for a, m in of]
    lake.write("score.leaderboard", "all", rows, fingerprint="f")
    published = PublishedScores(lake, slices=False)

    def shown(assistants: list[str] | None, limit: int) -> list[Score]:
        return published.read(published.best(published.find(is_evidence_score, assistants), limit))

    assert shown(["imported"], 10) == rows[2:]
    assert shown(None, 10) == rows[:2], "the best of the first metric"
    assert shown(None, 0) == rows


def test_names_are_those_of_all_rows_and_an_empty_leaderboard_has_none(lake, rows) -> None:
    published = PublishedScores(lake, slices=False)
    assert published.names("assistant") == {*ASSISTANTS} and published.names("slice") == {"all", "period 1"}
    lake.write("score.leaderboard", "all", [], fingerprint="f")
    empty = PublishedScores(lake, slices=False)
    assert (empty.names("metric"), empty.find(lambda group: True, None), empty.read([])) == (set(), {}, [])


def test_missing_leaderboard_is_an_error(tmp_path) -> None:
    with pytest.raises(BadInput, match="no leaderboard"):
        PublishedScores(Lake(tmp_path), slices=False)
