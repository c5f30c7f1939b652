"""The comparison of another search with what a memory recalled for a probe: same k, same tokens, same failures."""

import pytest
from factories import attribution

from memflow.memories.entries import Item
from memflow.records import ProbeRetrieval
from memflow.scoring.retrieval import OWN, RANDOM, ProbeEntries, retrieval_rows

WORDS = 5
"""Words of an entry's text; each has about 5 tokens."""


def entries(
    recalled: list[str], *, loss: float | None = 1.0, words: int = WORDS, count: int = 6
) -> ProbeEntries:
    """Return a probe whose evidence is m0 and m1, of which the entries e0 and e1 remain, and m9, which is in none."""
    items = {
        f"e{number}": Item(f"e{number}", "message", "word " * words, (f"m{number}",), number)
        for number in range(count)
    }
    row = attribution(evidence=3, stored=2, recalled=0, loss=loss)
    return ProbeEntries(row, frozenset({"m0", "m1", "m9"}), items, recalled)


def by_ranking(probe: ProbeEntries, ranking: list[str]) -> dict[str, ProbeRetrieval]:
    return {row.ranking: row for row in retrieval_rows(probe, {"text": ranking})}


def test_ranking_recalls_no_more_entries_than_the_memory() -> None:
    rows = by_ranking(entries(["e4", "e5"]), ["e3", "e0", "e1"])
    text = rows["text"]
    assert (text.k, text.recalled, text.ranks, text.evidence, text.stored) == (2, 1.0, [2.0, 3.0], 3, 2)
    assert (rows[OWN].recalled, rows[OWN].ranks) == (0.0, [])


def test_ranking_recalls_no_more_tokens_than_the_memory() -> None:
    probe = entries(["e4"])
    probe.items["e4"] = Item("e4", "message", "word", ("m4",), 4)  # type: ignore[index]
    assert by_ranking(probe, ["e0", "e1"])["text"].recalled == 0.0, "longer than what the memory recalled"
    probe.items["e1"] = Item("e1", "message", "tea", ("m1",), 1)  # type: ignore[index]
    assert by_ranking(probe, ["e0", "e1"])["text"].recalled == 1.0, "the longer entry is passed over"


def test_avoided_read_failure_is_the_memorys_minus_that_of_the_ranking() -> None:
    rows = by_ranking(entries(["e4", "e5"]), ["e0", "e1"])
    # Two of three missing messages are stored; what is in no entry stays a write failure.
    assert rows[OWN].read == pytest.approx(2 / 3)
    assert (rows["text"].avoided, rows[OWN].avoided) == (pytest.approx(2 / 3), 0.0)
    worse = by_ranking(entries(["e0", "e5"]), ["e4", "e3"])["text"]
    assert worse.avoided == pytest.approx(1 / 2 - 2 / 3)
    unscored = by_ranking(entries(["e4"], loss=None), ["e0"])["text"]
    assert (unscored.read, unscored.avoided, unscored.recalled) == (None, None, 1.0)


def test_random_orders_recall_as_expected_and_are_the_same_each_time() -> None:
    probe = entries(["e4", "e5", "e3"], count=60)
    rows = [by_ranking(probe, []) for _ in range(2)]
    assert rows[0] == rows[1]
    assert rows[0][RANDOM].recalled == pytest.approx(2 * 3 / 60, abs=0.2)


def test_memory_that_recalls_all_its_entries_leaves_no_other_search_a_better_choice() -> None:
    probe = entries([f"e{number}" for number in range(6)])
    rows = by_ranking(probe, ["e5", "e4", "e3", "e2", "e1", "e0"])
    assert {row.recalled for row in rows.values()} == {2.0}
    assert {row.avoided for row in rows.values()} == {0.0}
