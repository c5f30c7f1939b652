"""Check rules of the tables of an assistant: transcripts, memory, replies, verdicts, claims and scores.

What our own code computes from these rows, such as comparisons, is tested in the test suite. Rules about content skip
quarantined rows.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from memflow.checks.every_table import QUARANTINED
from memflow.checks.rules import (
    AcceptedValues,
    Between,
    EachRow,
    Expectation,
    ForeignKey,
    RowForEvery,
    WholeTable,
    expect,
)
from memflow.memories.memory import FAILURE
from memflow.memories.server.mirror import UNSTORED
from memflow.records import Drift, Score, is_failed_reply
from memflow.scoring.catalog import in_range
from memflow.scoring.comparability import differing_settings
from memflow.scoring.health.states import FAULTY, SUSPECT


def _minority_simulators(scores: Sequence[Score]) -> list[int]:
    """Return the indices of scores whose simulator differs from the most frequent simulator of the domain."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for score in scores:
        counts[score.domain][score.simulator] += 1
    majority = {
        domain: min(by_simulator.items(), key=lambda item: (-item[1], item[0]))[0]
        for domain, by_simulator in counts.items()
    }
    return [index for index, score in enumerate(scores) if score.simulator != majority[score.domain]]


def _other_prompt_or_model(scores: Sequence[Score]) -> list[int]:
    """Return the indices of scores whose prompt or model version differs from comparable scores.

    Scores are comparable if they have the same domain and model.
    """
    return [
        index
        for index, differences in enumerate(differing_settings(scores))
        if differences and any(name in differences for name in ("prompt ", "replaced prompts ", "model "))
    ]


def _moved_scores(rows: Sequence[Drift]) -> list[int]:
    """Return the indices of scores that moved beyond noise at the last change of their assistant."""
    times: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row.domain, row.assistant)
        times[key] = max(times.get(key, ""), row.published_at)
    return [
        i for i, row in enumerate(rows) if row.moved and row.published_at == times[row.domain, row.assistant]
    ]


_ONE_OF_VALUE_AND_REASON = EachRow(lambda row: (row.value is None) == (row.reason is not None))

MAX_CUT = 0.05
"""The share of texts cut at the token limit above which a check warns."""
ALL_BUT_ONE = 1 - 1e-9
"""The tolerance of a rule that fails only if every row violates it."""
_CUT = {"cut_texts_at_most_5_percent": EachRow(lambda row: not row.cut, tolerance=MAX_CUT)}

EXPECTED: tuple[Expectation, ...] = (
    *(
        rule
        for table in ("feedback.sessions", "memory.transcripts", "memory.feedback", "answer.replies")
        for rule in expect(table, _CUT, "warn")
    ),
    *expect(
        "memory.transcripts",
        {
            "valid_message_role": AcceptedValues("role", ("user", "assistant")),
            "valid_message_origin": AcceptedValues("origin", ("given", "assistant", "simulator")),
            "sequence_number_not_negative": Between("sequence", 0),
        },
    ),
    *expect(
        "memory.indexes",
        {
            "validity_start_not_after_end": EachRow(lambda row: row.until is None or row.since <= row.until),
            "source_messages_in_transcript": ForeignKey(("sources",), "memory.transcripts", ("message_id",)),
        },
    ),
    *expect(
        "memory.indexes",
        {"failed_writes_at_most_10_percent": EachRow(lambda row: row.kind != FAILURE, tolerance=QUARANTINED)},
        "warn",
    ),
    *expect(
        "answer.replies",
        {
            "every_test_probe_has_reply": RowForEvery(
                ("probe_id",), "question.probes", lambda row: row.split == "test"
            ),
            "probe_id_in_probes": ForeignKey(("probe_id",), "question.probes", ("probe_id",)),
            "recalled_entries_in_memory": ForeignKey(
                ("recalled", "episode_id"), "memory.indexes", ("entry_id", "episode_id"), UNSTORED
            ),
            "ranked_entries_in_memory": ForeignKey(
                ("ranked", "episode_id"), "memory.indexes", ("entry_id", "episode_id"), UNSTORED
            ),
            "unparsed_reply_has_reason": EachRow(
                lambda row: row.parsed is not None or row.reason is not None
            ),
            "at_least_1_reply_without_failure": EachRow(
                lambda row: not is_failed_reply(row), tolerance=ALL_BUT_ONE
            ),
        },
    ),
    *expect(
        "answer.replies",
        {"full_context_not_truncated": EachRow(lambda row: bool(row.ranked) or not row.dropped_tokens)},
        "warn",
    ),
    *expect(
        "score.verdicts",
        {
            "every_reply_has_verdict": RowForEvery(("probe_id",), "answer.replies"),
            "probe_id_in_replies": ForeignKey(("probe_id",), "answer.replies", ("probe_id",)),
            "verdict_value_in_metric_range": EachRow(lambda row: in_range(row.metric, row.value)),
            "exactly_one_of_value_and_reason": _ONE_OF_VALUE_AND_REASON,
        },
    ),
    *expect(
        "score.claims",
        {
            "claim_value_between_0_and_1": Between("value", 0, 1),
            "exactly_one_of_value_and_reason": _ONE_OF_VALUE_AND_REASON,
        },
    ),
    *expect("score.health", {"memory_not_faulty": EachRow(lambda row: row.state != FAULTY)}, "fault"),
    *expect("score.health", {"memory_not_suspect": EachRow(lambda row: row.state != SUSPECT)}, "warn"),
    *expect(
        "score.leaderboard",
        {
            "judge_is_not_answering_model": EachRow(lambda row: not row.self_judges),
            "one_simulator_per_domain": WholeTable(_minority_simulators),
            "comparable_scores_have_same_prompt_and_model_version": WholeTable(_other_prompt_or_model),
        },
        "warn",
    ),
    *expect("score.drift", {"scores_within_noise_after_model_change": WholeTable(_moved_scores)}, "warn"),
)
