"""Accuracy and its baselines per slice: chance, constant answer, and no-context accuracy."""

import factories
from factories import verdict

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.comem.scoring import make_scores
from memflow.benchmarks.domains import Domain
from memflow.records import Probe, Score, Verdict

DOMAIN = Domain("d", "comem", (), "")
PLAIN, UNKNOWN_CHOICE = ("a", "b", "c", "d"), ("a", "b", "I don't know.")


def probe(question: str, checkpoint: int, options: tuple[str, ...], gold: int, category: str) -> Probe:
    return factories.probe(
        probe_id=f"{question}/c{checkpoint}", question_id=question, opens=not checkpoint, episode_id=question[0],
        checkpoint=checkpoint, category=category, options=list(options), gold=str(gold),
    )  # fmt: skip


# Question, options, golds at checkpoints 0 to 2, category, and which answers are right.
ASKED = (
    ("e1", PLAIN, (1, 1, 2), "likes", (1, 0, 1)),
    ("e2", UNKNOWN_CHOICE, (3, 3, 1), "likes", (0, 1, 0)),
    ("f1", UNKNOWN_CHOICE, (3, 3, 3), "dates", (1, 1, 1)),
    ("f2", PLAIN, (1, 1, 1), "dates", (0, 0, 1)),
)
PROBES = [
    probe(question, at, options, gold, category)
    for question, options, golds, category, _ in ASKED
    for at, gold in enumerate(golds)
]


def verdicts(skip: str = "") -> list[Verdict]:
    right = {f"{question}/c{at}": value for question, *_, values in ASKED for at, value in enumerate(values)}
    return [
        verdict(
            assistant="rag",
            probe_id=each.probe_id,
            episode_id=each.episode_id,
            value=float(right[each.probe_id]),
        )
        for each in PROBES
        if each.probe_id != skip
    ]


def figures(skip: str = "") -> dict[tuple[str, str, str], Score]:
    measured = AssistantResults("d", "rag", "rag", "m", PROBES, verdicts(skip), [], [], "s", True)
    return {(each.metric, each.variant, each.slice): each for each in make_scores(DOMAIN, measured)}


def test_every_accuracy_slice_has_random_constant_and_no_context_baselines() -> None:
    found = figures()
    slices = {name for metric, _, name in found if metric == "accuracy"}
    assert slices == {
        "all",
        "checkpoint 0",
        "checkpoint 1",
        "checkpoint 2",
        "category likes",
        "category dates",
    }
    for floor in ("random", "constant", "guess"):
        assert {name for metric, variant, name in found if (metric, variant) == (floor, "standard")} == slices


def test_constant_answer_accuracy_uses_best_constant_answer_of_slice() -> None:
    found = {name: each.value for (metric, variant, name), each in found_of("constant", "standard").items()}
    # Golds: all 1 2, 3 1, 3 3, 1 1; checkpoint 1 1 3 3 1, checkpoint 2 2 1 3 1; likes 1 2 3 1, dates 3 3 1 1.
    assert found == {
        "all": 4 / 8, "checkpoint 0": 2 / 4, "checkpoint 1": 2 / 4, "checkpoint 2": 2 / 4, "category likes": 2 / 4,
        "category dates": 2 / 4,
    }  # fmt: skip


def found_of(metric: str, variant: str) -> dict[tuple[str, str, str], Score]:
    return {key: each for key, each in figures().items() if key[:2] == (metric, variant)}
