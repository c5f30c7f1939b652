"""Retrieval headroom: the search is chosen on other episodes, and differences are paired over episodes."""

import pytest
from factories import row

from memflow.records import ProbeRetrieval
from memflow.scoring.headroom import AT, Headroom, headroom

SEARCHES = ("hybrid", "vector", "text")


def rows_of(
    recalled: list[dict[str, float]], *, read: float = 1.0, per_episode: int = 1
) -> list[ProbeRetrieval]:
    """Return the rows of probes with one evidence message, given the recall of each ranking; others recall nothing."""
    found = []
    for number, by_ranking in enumerate(recalled):
        own = by_ranking.get("memory", 0.0)
        failure = read * (1 - own)
        for ranking in ("memory", *SEARCHES, "random"):
            value = by_ranking.get(ranking, 0.0)
            found.append(
                row(
                    ProbeRetrieval,
                    probe_id=f"p{number}",
                    episode_id=f"u{number // per_episode}",
                    ranking=ranking,
                    evidence=1,
                    stored=1,
                    entries=9,
                    k=3,
                    tokens=30,
                    recalled=value,
                    ranks=[2.0] if value else [],
                    read=failure,
                    avoided=failure - read * (1 - value),
                )
            )
    return found


def of(recalled: list[dict[str, float]], **options: float) -> Headroom:
    return headroom("d", "a", rows_of(recalled, **options))


def test_search_of_an_episode_is_chosen_on_the_other_episodes() -> None:
    # Each search finds the evidence of one episode only: whatever is chosen on the other two finds nothing here.
    found = of([{"hybrid": 1.0}, {"vector": 1.0}, {"text": 1.0}])
    assert found.recall["best"] == 0.0
    assert {name: found.recall[name] for name in SEARCHES} == pytest.approx(dict.fromkeys(SEARCHES, 1 / 3))
    found = of([{"vector": 1.0}] * 4)
    assert (dict(found.chosen), found.recall["best"]) == ({"vector": 4}, 1.0)


def test_avoided_share_and_gain_are_paired_differences_with_intervals_over_episodes() -> None:
    found = of([{"text": 1.0}, {"text": 1.0}, {"text": 1.0}, {}, {"text": 1.0, "memory": 1.0}] * 2)
    gain, avoided = found.gain, found.avoided
    assert gain is not None and avoided is not None and avoided.low is not None and avoided.high is not None
    assert gain.difference == pytest.approx(found.recall["best"] - found.recall["memory"]) == 0.6
    assert avoided.difference == pytest.approx(6 / 8)  # of 8 read failures
    assert 0 < avoided.low < 6 / 8 < avoided.high <= 1.0
    assert found.statement.startswith("Its search is a problem: text search of the same entries avoids 75%")


def test_statement_says_whether_search_or_store_is_the_problem() -> None:
    healthy = of([{name: 1.0 for name in ("memory", *SEARCHES)}] * 3)
    assert healthy.statement.startswith("The search is not the problem")
    worse = of([{"memory": 0.5}, {"memory": 0.25}, {"memory": 0.5}, {"memory": 0.25}])
    assert worse.statement.startswith("Its search is better than the others")
    unclear = of([{"text": 1.0}, {"text": 1.0}])
    assert unclear.statement.startswith("It cannot be told") and "2 episodes" in unclear.statement


def test_one_episode_has_recall_and_no_best_search() -> None:
    found = of([{"text": 1.0}, {"text": 1.0}], per_episode=2)
    assert (found.recall["text"], found.gain, dict(found.chosen)) == (1.0, None, {})
    assert found.statement == "Not measurable: with one episode, no search can be chosen on other episodes."


def test_memory_without_comparable_probes_has_the_most_frequent_reason_and_no_figure() -> None:
    rows = [row(ProbeRetrieval, probe_id=f"p{at}", ranking="memory", reason="no export") for at in range(2)]
    found = headroom("d", "a", rows)
    assert (found.probes, found.recall, found.avoided) == (0, {}, None)
    assert found.statement == "Not measurable: no export."
    assert headroom("d", "a", []).statement == "Not measurable: no probe has evidence to follow."


def test_curve_is_the_recall_within_the_first_entries_of_a_ranking() -> None:
    curve = dict(zip(AT, of([{"text": 1.0}, {}]).curves["text"], strict=True))
    assert (curve[1], curve[2], curve[100]) == (0.0, 0.5, 0.5)
