"""The history of published scores: publishers that publish at the same time lose no rows."""

from multiprocessing import get_context

import pytest
from factories import score
from lake_stores import memory_lake

from memflow.records import PublishedScore
from memflow.scoring.publications import SCORE_FIELDS, merge_histories
from resources.lake.lake import Lake
from resources.publishing.score_history import PARTITION, TABLE, add_to_history

PUBLISHERS, PUBLICATIONS = 8, 5


def publish(root, name, barrier):
    """Publish several times, each time on top of the history that was read before."""
    lake = Lake(root)
    barrier.wait()
    for number in range(PUBLICATIONS):
        stored = lake.read(TABLE, PARTITION) if PARTITION in lake.partitions(TABLE) else []
        row = published(name, len(stored) + 1, published_at=f"{name} {number}", value=number / 10)
        add_to_history(lake, [*stored, row], fingerprint="", meta={})


def published(assistant, publication, **given):
    values = {name: getattr(score(assistant=assistant), name) for name in SCORE_FIELDS}
    return PublishedScore(
        **{**values, "published_at": f"{assistant} {publication}", "run": "r", **given},
        publication=publication,
    )


def check_history(rows):
    """Check that every publication of every publisher is there once, in order, under a number of its own."""
    expected = {f"p{who} {number}" for who in range(PUBLISHERS) for number in range(PUBLICATIONS)}
    assert {row.published_at for row in rows} == expected
    assert [row.publication for row in rows] == list(range(1, len(expected) + 1))


def test_eight_concurrent_publishers_lose_no_rows(tmp_path):
    root, processes = str(tmp_path / "lake"), get_context("fork")
    barrier = processes.Barrier(PUBLISHERS)
    publishers = [
        processes.Process(target=publish, args=(root, f"p{number}", barrier)) for number in range(PUBLISHERS)
    ]
    for each in publishers:
        each.start()
    for each in publishers:
        each.join(60)
    assert [each.exitcode for each in publishers] == [0] * PUBLISHERS
    check_history(Lake(root).read(TABLE, PARTITION))


@pytest.mark.parametrize("kind", ["local", "store"])
def test_row_that_was_added_during_a_publication_stays(kind, tmp_path):
    lake = Lake(tmp_path / "lake") if kind == "local" else memory_lake(tmp_path)
    add_to_history(lake, [published("a", 1)], fingerprint="", meta={})
    computed = [*lake.read(TABLE, PARTITION), published("b", 2)]
    add_to_history(lake, [published("a", 1), published("c", 2)], fingerprint="", meta={})
    add_to_history(lake, computed, fingerprint="", meta={})
    rows = lake.read(TABLE, PARTITION)
    assert [(row.assistant, row.publication) for row in rows] == [("a", 1), ("c", 2), ("b", 3)]


def test_merged_history_leaves_out_published_scores_and_removals_of_unpublished_ones():
    stored = [published("a", 1), published("b", 2)]
    same = published("b", 2, published_at="later")
    removed = published("c", 2, removed=True)
    assert merge_histories(stored, [stored[0], same, removed]) == stored
    changed = published("b", 2, published_at="later", value=0.9)
    assert merge_histories(stored, [stored[0], changed])[-1].publication == 3
