"""Retrieval scores from rows of score.rankings: cutoffs beyond a memory's k, slices, intervals and groups."""

import factories
import pytest

from memflow.records import ProbeRanking
from memflow.scoring.attribution import NO_EVIDENCE
from memflow.scoring.rankings import AssistantRetrieval, retrieval_scores, separated, value_at


def ranking(**columns) -> ProbeRanking:
    given = {
        "evidence": 2, "stored": 2, "entries": 100, "relevant_entries": 2, "limit": 50, "returned": 50,
        "found": [1.0, 7.0], "relevant": [1.0, 7.0], "k": 5, "tokens": 90, "recalled": 1, "position": 0.5,
    }  # fmt: skip
    return factories.row(ProbeRanking, **{**given, **columns})


@pytest.mark.parametrize(
    ("columns", "k", "value"),
    [
        ({}, 5, 0.5),
        ({}, 10, 1.0),
        ({"limit": 50, "returned": 8}, 50, 1.0),  # nothing else matched
        ({"limit": None, "returned": 10}, 10, 1.0),
        ({"limit": None, "returned": 10}, 20, None),  # it may have more
        ({"limit": None, "returned": 10, "entries": 10}, 20, 1.0),
        ({"returned": None, "found": [], "relevant": []}, 1, None),
    ],
)
def test_recall_at_a_cutoff_is_never_invented(columns, k, value) -> None:
    assert value_at("recall", k, ranking(**columns)) == value


def test_evidence_that_no_entry_has_lowers_ndcg() -> None:
    whole = value_at(
        "ndcg", 10, ranking(found=[1.0], relevant=[1.0], stored=1, relevant_entries=1, evidence=1)
    )
    lost = value_at(
        "ndcg", 10, ranking(found=[1.0], relevant=[1.0], stored=1, relevant_entries=1, evidence=2)
    )
    assert whole == 1 and lost is not None and lost < 1


def test_slices_are_by_type_language_and_position_and_probes_without_evidence_do_not_count() -> None:
    rows = [
        ranking(episode_id=f"e{number % 4}", probe_id=f"p{number}", category="single", language=language,
                position=number / 12)
        for number, language in enumerate(["en", "zh"] * 6)
    ]  # fmt: skip
    rows.append(ranking(probe_id="none", evidence=0, reason=NO_EVIDENCE))
    scores = {(row.slice, row.metric, row.k): row for row in retrieval_scores(rows)}
    assert scores["all", "recall", 5].n == 12 and scores["all", "recall", 5].value == 0.5
    assert scores["language zh", "recall", 5].n == scores["language en", "recall", 5].n == 6
    assert scores["evidence in the first third", "recall", 5].n == 4
    assert scores["type single", "own_recall", None].value == 0.5
    assert scores["all", "stored", None].value == 1
    assert scores["all", "recall", 5].episodes == 4


def test_score_without_enough_values_has_the_reason_of_the_memory() -> None:
    rows = [ranking(probe_id=f"p{number}", limit=None, returned=5) for number in range(4)]
    [score] = [row for row in retrieval_scores(rows) if (row.metric, row.k, row.slice) == ("mrr", 10, "all")]
    assert (score.value, score.low) == (None, None)
    assert score.reason == "the memory ranks fewer entries, and has no parameter k to raise"


def test_groups_are_assistants_with_disjoint_intervals() -> None:
    def of(name: str, first: int) -> AssistantRetrieval:
        rows = [
            ranking(
                episode_id=f"e{number % 6}",
                probe_id=f"p{number}",
                evidence=1,
                found=[1.0] if number < first else [],
            )
            for number in range(60)
        ]
        return AssistantRetrieval(
            domain="d", assistant=name, embedder=None, label=None, incomplete=None, probes=60, returned=5, tokens=1,
            scores=retrieval_scores(rows),
        )  # fmt: skip

    results = [of("low", 5), of("high", 55), of("also_high", 53), of("middle", 31)]
    assert separated(results, "recall", 5) == ["high", "middle", "low"]
