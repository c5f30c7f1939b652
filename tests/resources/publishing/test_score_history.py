"""The history of published scores: it agrees with the leaderboard after runs that publish at the same time."""

from multiprocessing import get_context

import pytest
from factories import score

from memflow.resources.lake.facts import RUN
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.score_history import PARTITION, TABLE, add_to_history, history_rows
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.settings import Settings
from memflow.scoring.judges import JUDGES
from memflow.scoring.publications import current_scores, key_of

PUBLISHERS, PUBLICATIONS = 8, 5
DOMAIN = "amemgym_demo"


def scores_of(*assistants, value=0.5):
    return [score(domain=DOMAIN, assistant=name, metric="f1", value=value) for name in assistants]


def write_leaderboard(lake, run, scores):
    lake.write("score.leaderboard", PARTITION, scores, fingerprint="", meta={RUN: run})


def write_history(lake, run, history):
    add_to_history(Settings(), lake, history, fingerprint="", meta={RUN: run})


def publish(root, name, barrier):
    """Publish several times, as a run does: the history is computed, and then the leaderboard is written."""
    lake = Lake(root)
    barrier.wait()
    for number in range(PUBLICATIONS):
        run = f"{name} {number}"
        scores = scores_of(name, f"{name} of {number}", "all", value=number / 10)
        history = history_rows(Settings(), lake, run, scores)
        write_leaderboard(lake, run, scores)
        write_history(lake, run, history)


def check_history(lake):
    """Check that the newest scores are those of the leaderboard, and that each publication has its own number."""
    rows = lake.read(TABLE, PARTITION)
    newest = {key: row.value for key, row in current_scores(rows).items()}
    assert newest == {key_of(row): row.value for row in lake.read("score.leaderboard", PARTITION)}
    numbers = [row.publication for row in rows]
    assert numbers == sorted(numbers)
    runs = {(row.publication, row.run, row.published_at) for row in rows}
    assert [number for number, *_ in sorted(runs)] == list(range(1, numbers[-1] + 1))


def test_eight_concurrent_publishers_keep_the_history_equal_to_the_leaderboard(tmp_path):
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
    check_history(Lake(root))


@pytest.mark.parametrize("first", ["one", "two"])
@pytest.mark.parametrize("last_leaderboard", ["one", "two"])
def test_two_runs_publish_at_the_same_time(first, last_leaderboard, tmp_path):
    lake = Lake(tmp_path / "lake")
    write_leaderboard(lake, "zero", scores_of("a"))
    write_history(lake, "zero", history_rows(Settings(), lake, "zero", scores_of("a")))
    before = lake.read(TABLE, PARTITION)
    scores = {"one": scores_of("a", "b"), "two": scores_of("a", "c", value=0.7)}
    computed = {run: history_rows(Settings(), lake, run, each) for run, each in scores.items()}
    for run in sorted(scores, key=lambda each: each == last_leaderboard):
        write_leaderboard(lake, run, scores[run])
    for run in sorted(scores, key=lambda each: each != first):
        write_history(lake, run, computed[run])
    check_history(lake)
    assert lake.read(TABLE, PARTITION)[: len(before)] == before


def test_row_that_was_added_during_a_publication_stays(tmp_path):
    lake = Lake(tmp_path / "lake")
    computed = history_rows(Settings(), lake, "two", scores_of("b"))
    write_leaderboard(lake, "one", scores_of("c"))
    write_history(lake, "one", history_rows(Settings(), lake, "one", scores_of("c")))
    write_leaderboard(lake, "two", scores_of("b"))
    write_history(lake, "two", computed)
    rows = lake.read(TABLE, PARTITION)
    assert [(row.assistant, row.publication, row.removed) for row in rows] == [
        ("c", 1, False),
        ("b", 2, False),
        ("c", 2, True),
    ]


def test_history_names_the_judges_of_the_stored_verdicts_and_not_those_of_the_present_settings(tmp_path):
    lake = Lake(tmp_path / "lake")
    for table, judges in (("score.verdicts", {}), ("score.claims", {JUDGES: "former"})):
        lake.write(table, f"{DOMAIN}/a", [], fingerprint="", meta=judges)
    settings = Settings(models={"present": Model(kind="scripted")}, roles={"judge": "present"})
    scores = [score(domain=DOMAIN, assistant="a", metric=metric) for metric in ("accuracy", "factual_recall")]
    rows = history_rows(settings, lake, "run", scores)
    assert [(row.metric, row.judge) for row in rows] == [("accuracy", None), ("factual_recall", "former")]
