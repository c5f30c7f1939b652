"""Retrieval verdicts of any memory, and scores: averages, slices, coverage and task average."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from longmemeval_rows import domain, instance, reply, results, rows

from memflow.benchmarks.longmemeval.config import parse_config
from memflow.benchmarks.longmemeval.metrics import METRICS
from memflow.benchmarks.longmemeval.retrieval_verdicts import retrieval_verdicts
from memflow.benchmarks.longmemeval.scoring import make_scores
from memflow.benchmarks.longmemeval.types import TYPES
from memflow.benchmarks.verdicts import verdict_row
from memflow.errors import BadSettings
from memflow.records import Record, Score, Verdict
from memflow.scoring.metric import Metric

Read = Callable[[Any], list[Record]]
SAID = [
    [("user", "a", True), ("assistant", "b", False), ("user", "c", False)],
    [("user", "d", False), ("assistant", "e", True)],
    [("user", "f", False)],
]


def histories(*ids: str) -> list[dict[str, Any]]:
    """Return questions with three sessions: a marked user's turn, a marked assistant's turn, and neither."""
    sessions = [
        [{"role": role, "content": text, "has_answer": marked} for role, text, marked in session]
        for session in SAID
    ]
    changes = {
        "haystack_session_ids": ["answer_1", "answer_2", "x"],
        "haystack_dates": ["2024/01/01 (Mon) 10:00"] * 3,
        "haystack_sessions": sessions,
        "answer_session_ids": ["answer_1", "answer_2"],
    }
    return [copy.deepcopy(instance(each, **changes)) for each in ids]


async def values_of(read: Read, recalled: Sequence[tuple[int, int]], /, **changes: Any) -> dict[Any, Verdict]:
    """Return the verdicts on a reply with these (session, place) messages, one entry each."""
    _, [probe] = await rows(domain(retrieval_k=[1, 3]), read(histories("q1")))
    key = probe.episode_id
    ids = [f"{key}/s{s:03d}/t{t:02d}{SAID[s - 1][t - 1][0][0]}" for s, t in recalled]
    entries = [f"e{number}" for number in range(len(ids))]
    made = reply(probe, **{"recalled": entries, "ranked": entries, "recalled_sources": ids, **changes})
    found = retrieval_verdicts(domain(retrieval_k=[1, 3]), [probe], [made])
    return {(row.metric, row.variant): row for row in found}


async def test_assistants_turns_are_no_documents(read: Read) -> None:
    found = await values_of(read, [(2, 2), (1, 1)])
    assert found["turn_recall_any_at_1", "standard"].value == 1.0


async def test_session_has_the_rank_of_its_best_turn(read: Read) -> None:
    found = await values_of(read, [(3, 1), (1, 3), (1, 1)])
    assert found["session_recall_any_at_1", "standard"].value == 0.0
    assert found["session_ndcg_any_at_3", "standard"].value == 1.0


async def test_unmarked_turns_of_an_evidence_session_are_a_session_of_their_own(read: Read) -> None:
    found = await values_of(read, [(1, 3), (1, 1)])
    assert found["session_recall_any_at_1", "standard"].value == 1.0
    assert found["session_recall_any_at_1", "turn_to_session"].value == 0.0


async def test_memory_of_sessions_has_no_values_at_turn_grain(read: Read) -> None:
    found = await values_of(read, [(1, 1), (1, 2), (1, 3)], recalled=["e0"], ranked=["e0"])
    assert not any(metric.startswith("turn_") or variant == "turn_to_session" for metric, variant in found)
    assert found["session_recall_any_at_1", "standard"].value == 1.0


async def test_memory_that_does_not_rank_or_recall_has_no_retrieval_verdicts(read: Read) -> None:
    assert await values_of(read, [(1, 1)], ranked=[]) == {}
    assert await values_of(read, [(1, 1)], assistant="oracle@model") == {}


async def test_failed_recall_is_a_reason(read: Read) -> None:
    _, probes = await rows(domain(), read(histories("a", "b")))
    good = reply(probes[0], ranked=["e"], recalled=["e"])
    lost = reply(probes[1], model=None, reason="recall for b: the server is down")
    found = retrieval_verdicts(domain(), probes, [good, lost])
    assert {row.reason for row in found if row.probe_id == "b"} == {"recall for b: the server is down"}
    assert {row.reason for row in found if row.probe_id == "a"} == {None}


async def test_questions_without_a_marked_users_turn_count_in_one_of_the_two_published_averages(
    read: Read,
) -> None:
    marked, unmarked, abstention = histories("q1", "q2", "q3_abs")
    for session in unmarked["haystack_sessions"]:
        for message in session:
            message["has_answer"] = message["content"] == "e"
    _, probes = await rows(domain(), read([marked, unmarked, abstention]))
    found = retrieval_verdicts(
        domain(), probes, [reply(each, ranked=["e"], recalled=["e"]) for each in probes]
    )
    scores = {
        (score.metric, score.variant): score
        for score in make_scores(domain(), results(probes, found))
        if score.slice == "all"
    }
    published = scores["session_recall_all_at_5", "standard"]
    printed = scores["session_recall_all_at_5", "all_answerable"]
    assert (published.n, published.value) == (1, 0.0)
    assert (printed.n, printed.value) == (2, 0.5)


async def accuracy(read: Read, labels: dict[str, tuple[str, float | None]]) -> dict[tuple[str, str], Score]:
    """Return the scores of (type, label) by question id."""
    _, probes = await rows(domain(), read([instance(name, kind) for name, (kind, _) in labels.items()]))
    verdicts = [
        verdict_row(domain(), "memory", probe, "accuracy", labels[probe.probe_id][1], None)
        for probe in probes
    ]
    return {(each.metric, each.slice): each for each in make_scores(domain(), results(probes, verdicts))}


async def test_task_average_weights_types_equally_and_abstention_counts_in_its_type(read: Read) -> None:
    labels: dict[str, tuple[str, float | None]] = {kind: (kind, 1.0) for kind in TYPES}
    labels |= {"more_abs": ("multi-session", 0.0), "370a8ff4": ("multi-session", 0.0)}
    found = await accuracy(read, labels)
    assert found["accuracy", "all"].value == pytest.approx(6 / 8)
    assert found["accuracy", "category multi-session"].value == pytest.approx(1 / 3)
    assert found["task_averaged_accuracy", "all"].value == pytest.approx((5 + 1 / 3) / 6)
    assert found["accuracy", "abstention"].value == 0.0
    assert found["accuracy", "answerable"].value == pytest.approx(6 / 7)
    assert found["task_averaged_accuracy", "answerable"].value == pytest.approx(5.5 / 6)
    assert found["task_averaged_accuracy", "without known errors"].value == pytest.approx(5.5 / 6)


async def test_missing_type_or_many_missing_labels_leave_no_score(read: Read) -> None:
    found = await accuracy(read, {"a": ("multi-session", 1.0)})
    average = found["task_averaged_accuracy", "all"]
    assert average.value is None and "no question of the type single-session-user" in (average.reason or "")
    lost = await accuracy(read, {kind: (kind, None if kind == TYPES[0] else 1.0) for kind in TYPES})
    assert lost["accuracy", "all"].value is None
    assert lost["task_averaged_accuracy", "all"].value is None
    assert lost["accuracy", "all"].coverage == pytest.approx(5 / 6)


def test_every_verdict_variant_is_declared() -> None:
    declared: dict[str, Metric] = {each.name: each for each in METRICS}
    assert {"turn_to_session", "all_answerable"} == set(declared["session_ndcg_any_at_5"].variants)
    assert "turn_to_session" not in declared["turn_ndcg_any_at_5"].variants


def test_unknown_cutoff_and_parameter_are_rejected() -> None:
    for parameters in ({"retrieval_k": [7]}, {"reading": "loud"}, {"unknown": 1}):
        with pytest.raises(BadSettings):
            parse_config(domain(**parameters))
