"""Summary of gold labels: counts computed by hand."""

from dataclasses import replace

from memflow.benchmarks.comem.annotation.summary import LabelSummary, summarize_labels
from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.records import GoldLabel

OPTIONS = ("a", "b", "I don't know.")
ASKED = (
    ContextQuestion("moves", "?", OPTIONS, 2, "changing"),
    ContextQuestion("stays", "?", OPTIONS, 1, "lasting"),
    ContextQuestion("open", "?", OPTIONS, None, "lasting"),
    ContextQuestion("apart", "?", OPTIONS, 1, "lasting"),
    ContextQuestion("broken", "?", OPTIONS, 1),
    ContextQuestion("unsound", "?", OPTIONS, 1, reason="it has no options"),
)
CONTEXT = Context("c", "d", (ContextMessage("m"), ContextMessage("n")), ASKED)


def pair(
    name: str, checkpoint: int, first: str | None, second: str | None, **more: object
) -> list[GoldLabel]:
    """Return the labels of annotator and verifier for one question at one checkpoint."""
    key = GoldLabel(
        domain="d",
        question_id=f"c/{name}",
        episode_id="c",
        checkpoint=checkpoint,
        made_by="annotator",
        visible=checkpoint,
        answer=first,
        **more,  # type: ignore[arg-type]
    )
    return [key, replace(key, made_by="verifier", answer=second, agrees=first == second)]


def whole() -> dict[str, LabelSummary]:
    apart, late = "they disagree at checkpoint 2", "it is no JSON"
    keys = [
        *(*pair("moves", 1, "3", "3"), *pair("moves", 2, "2", "2")),
        *(*pair("stays", 1, "1", "1"), *pair("stays", 2, "1", "1")),
        *(*pair("open", 1, "unknown", "unknown"), *pair("open", 2, "1", "1")),
        *(*pair("apart", 1, "1", "1", dropped=apart), *pair("apart", 2, "1", "2", dropped=apart)),
        *(*pair("broken", 1, "1", "1"), replace(pair("broken", 2, None, None)[0], reason=late)),
    ]
    return {each.slice: each for each in summarize_labels([CONTEXT], keys)}


def test_label_summary_counts_kept_dropped_and_failed_questions_per_category():
    found = whole()
    counts = {name: (each.questions, each.kept, each.dropped, each.failed) for name, each in found.items()}
    assert counts == {
        "all": (5, 3, 1, 1),
        "category changing": (1, 1, 0, 0),
        "category lasting": (3, 2, 1, 0),
    }
    assert found["all"].dropped_for == {"they disagree at checkpoint 2": 1}
    assert found["all"].failed_for == {"it is no JSON": 1}


def test_agreement_and_answer_changes_in_label_summary_match_hand_computed_counts():
    first, second = whole()["all"].checkpoints
    assert (first.both, first.agreed, second.both, second.agreed) == (5, 5, 4, 3)
    assert (first.untold, second.untold) == (2, 0)
    assert (first.changed, second.changed) == (0, 2)
    assert (first.published, first.as_published, second.as_published) == (2, 1, 2)
    assert whole()["all"].changes == (1, 2)
